package metricsapi

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/metrics/pkg/apis/metrics"

	"github.com/slipway-dev/slipway/cluster/node"
)

// figures measures pods and nodes.
type figures struct {
	pods     corelisters.PodLister
	nodes    corelisters.NodeLister
	kubelets *kubelets
}

// ofPods measures those that run; what cannot be measured is left out.
func (f *figures) ofPods(ctx context.Context, pods []*corev1.Pod) []metrics.PodMetrics {
	running := slices.DeleteFunc(slices.Clone(pods), func(p *corev1.Pod) bool { return p.Status.Phase != corev1.PodRunning })
	simulated, real := f.hosts(running)
	histories := f.histories(ctx, real)
	now := time.Now()
	found := []metrics.PodMetrics{}
	for _, p := range running {
		var m metrics.PodMetrics
		var ok bool
		if simulated[p.Spec.NodeName] {
			m, ok = simulatedPod(p, now)
		} else {
			m, ok = histories[p.Spec.NodeName].pod(p.Namespace, p.Name)
		}
		if ok {
			m.ObjectMeta = metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name, Labels: p.Labels, CreationTimestamp: metav1.NewTime(now)}
			found = append(found, m)
		}
	}
	return found
}

// hosts are the nodes that pods are on and that are Ready.
func (f *figures) hosts(pods []*corev1.Pod) (simulated map[string]bool, real []string) {
	simulated, seen := map[string]bool{}, map[string]bool{}
	for _, p := range pods {
		name := p.Spec.NodeName
		if seen[name] {
			continue
		}
		seen[name] = true
		n, err := f.nodes.Get(name)
		switch {
		case err != nil || !ready(n):
		case n.Labels[node.RealLabel] != "":
			real = append(real, name)
		case n.Labels[node.SimulatedLabel] != "":
			simulated[name] = true
		}
	}
	return simulated, real
}

// histories asks the kubelets of nodes, all at once. One that does not answer has none.
func (f *figures) histories(ctx context.Context, names []string) map[string]history {
	all := make([]history, len(names))
	var group errgroup.Group
	for i, name := range names {
		group.Go(func() error {
			all[i] = f.kubelets.history(ctx, name)
			return nil
		})
	}
	_ = group.Wait() // there are no errors
	byName := make(map[string]history, len(names))
	for i, name := range names {
		byName[name] = all[i]
	}
	return byName
}

// ofNodes measures those that are Ready; what cannot be measured is left out.
func (f *figures) ofNodes(ctx context.Context, nodes []*corev1.Node) ([]metrics.NodeMetrics, error) {
	var real []string
	simulated := map[string]corev1.ResourceList{}
	for _, n := range nodes {
		switch {
		case !ready(n):
		case n.Labels[node.RealLabel] != "":
			real = append(real, n.Name)
		case n.Labels[node.SimulatedLabel] != "":
			simulated[n.Name] = nothing()
		}
	}
	if err := f.sumPods(simulated); err != nil {
		return nil, err
	}
	histories := f.histories(ctx, real)
	now := time.Now()
	found := []metrics.NodeMetrics{}
	for _, n := range nodes {
		m, ok := metrics.NodeMetrics{Timestamp: metav1.NewTime(now), Window: metav1.Duration{Duration: simulatedWindow}}, true
		if m.Usage = simulated[n.Name]; m.Usage == nil {
			m, ok = histories[n.Name].node()
		}
		if ok {
			m.ObjectMeta = metav1.ObjectMeta{Name: n.Name, Labels: n.Labels, CreationTimestamp: metav1.NewTime(now)}
			found = append(found, m)
		}
	}
	return found, nil
}

// sumPods adds up what the pods of simulated nodes use.
func (f *figures) sumPods(nodes map[string]corev1.ResourceList) error {
	if len(nodes) == 0 {
		return nil
	}
	pods, err := f.pods.List(labels.Everything())
	if err != nil {
		return fmt.Errorf("list pods: %w", err)
	}
	for _, p := range pods {
		sum, ok := nodes[p.Spec.NodeName]
		if !ok || p.Status.Phase != corev1.PodRunning {
			continue
		}
		m, _ := simulatedPod(p, time.Time{})
		for _, c := range m.Containers {
			addTo(sum, c.Usage)
		}
	}
	return nil
}

func ready(n *corev1.Node) bool {
	return slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

// byName orders containers.
func byName(a, b metrics.ContainerMetrics) int { return cmp.Compare(a.Name, b.Name) }
