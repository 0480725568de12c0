package metricsapi

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/metrics/pkg/apis/metrics"
)

// ConvertToTable makes what `kubectl get podmetrics` prints.
func (podStorage) ConvertToTable(_ context.Context, object, _ runtime.Object) (*metav1.Table, error) {
	table := emptyTable()
	switch o := object.(type) {
	case *metrics.PodMetrics:
		addPod(table, o)
	case *metrics.PodMetricsList:
		for i := range o.Items {
			addPod(table, &o.Items[i])
		}
	default:
		return nil, fmt.Errorf("print metrics of pods: unexpected %T", object)
	}
	return table, nil
}

// ConvertToTable makes what `kubectl get nodemetrics` prints.
func (nodeStorage) ConvertToTable(_ context.Context, object, _ runtime.Object) (*metav1.Table, error) {
	table := emptyTable()
	switch o := object.(type) {
	case *metrics.NodeMetrics:
		addRow(table, o, o.Name, o.Usage, o.Window)
	case *metrics.NodeMetricsList:
		for i := range o.Items {
			n := &o.Items[i]
			addRow(table, n, n.Name, n.Usage, n.Window)
		}
	default:
		return nil, fmt.Errorf("print metrics of nodes: unexpected %T", object)
	}
	return table, nil
}

// emptyTable has metrics-server's columns.
func emptyTable() *metav1.Table {
	return &metav1.Table{ColumnDefinitions: []metav1.TableColumnDefinition{
		{Name: "Name", Type: "string", Format: "name", Description: "Name of the resource"},
		{Name: "cpu", Type: "string", Format: "quantity"},
		{Name: "memory", Type: "string", Format: "quantity"},
		{Name: "Window", Type: "string", Format: "duration"},
	}}
}

func addPod(table *metav1.Table, p *metrics.PodMetrics) {
	sum := corev1.ResourceList{}
	for _, c := range p.Containers {
		addTo(sum, c.Usage)
	}
	addRow(table, p, p.Name, sum, p.Window)
}

func addRow(table *metav1.Table, object runtime.Object, name string, usage corev1.ResourceList, window metav1.Duration) {
	table.Rows = append(table.Rows, metav1.TableRow{
		Cells:  []any{name, usage.Cpu().String(), usage.Memory().String(), window.Duration.String()},
		Object: runtime.RawExtension{Object: object},
	})
}

// addTo adds amounts to a sum.
func addTo(sum, amounts corev1.ResourceList) {
	for name, amount := range amounts {
		total := sum[name]
		total.Add(amount)
		sum[name] = total
	}
}
