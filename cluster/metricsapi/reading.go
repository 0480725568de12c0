package metricsapi

import (
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/metrics/pkg/apis/metrics"
)

// reading is what a kubelet answered at a time, in the terms of its endpoint /metrics/resource.
type reading struct {
	at   time.Time
	node point
	pods map[types.NamespacedName]map[string]point // by container
}

// point is what a node or a container has used until a time.
type point struct {
	at     time.Time
	start  float64 // when the container started, in seconds since 1970; 0 for a node
	cpu    float64 // in seconds since then; negative if it is unknown
	memory float64 // the working set, in bytes; negative if it is unknown
}

// complete says that all is known that is needed.
func (p point) complete() bool { return p.cpu >= 0 && p.memory >= 0 && !p.at.IsZero() }

// parse reads a kubelet's answer. A node may be hostile: numbers that cannot be are taken for unknown.
func parse(answer io.Reader) (reading, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(answer)
	if err != nil {
		return reading{}, fmt.Errorf("parse metrics: %w", err)
	}
	r := reading{node: unknown(), pods: map[types.NamespacedName]map[string]point{}}
	for _, m := range families["node_cpu_usage_seconds_total"].GetMetric() {
		r.node.cpu, r.node.at = number(m), instant(m)
	}
	for _, m := range families["node_memory_working_set_bytes"].GetMetric() {
		r.node.memory = number(m)
	}
	for name, set := range map[string]func(*point, *dto.Metric){
		"container_cpu_usage_seconds_total":  func(p *point, m *dto.Metric) { p.cpu, p.at = number(m), instant(m) },
		"container_memory_working_set_bytes": func(p *point, m *dto.Metric) { p.memory = number(m) },
		"container_start_time_seconds":       func(p *point, m *dto.Metric) { p.start = number(m) },
	} {
		for _, m := range families[name].GetMetric() {
			r.change(m, set)
		}
	}
	return r, nil
}

func unknown() point { return point{cpu: -1, memory: -1} }

// change sets something of the container that a metric is of.
func (r reading) change(m *dto.Metric, set func(*point, *dto.Metric)) {
	var pod types.NamespacedName
	var container string
	for _, l := range m.GetLabel() {
		switch l.GetName() {
		case "namespace":
			pod.Namespace = l.GetValue()
		case "pod":
			pod.Name = l.GetValue()
		case "container":
			container = l.GetValue()
		}
	}
	if r.pods[pod] == nil {
		r.pods[pod] = map[string]point{}
	}
	p, ok := r.pods[pod][container]
	if !ok {
		p = unknown()
	}
	set(&p, m)
	r.pods[pod][container] = p
}

// maxNumber is larger than every number of seconds or bytes that can be, and small enough for thousandths of it.
const maxNumber = 1e15

// number is a metric's value, of whatever type; -1 for what cannot be.
func number(m *dto.Metric) float64 {
	value := -1.0
	switch {
	case m.GetCounter() != nil:
		value = m.GetCounter().GetValue()
	case m.GetGauge() != nil:
		value = m.GetGauge().GetValue()
	case m.GetUntyped() != nil:
		value = m.GetUntyped().GetValue()
	}
	if math.IsNaN(value) || value < 0 || value > maxNumber {
		return -1
	}
	return value
}

// instant is when a metric was measured; now if it does not say.
func instant(m *dto.Metric) time.Time {
	if ms := m.GetTimestampMs(); ms > 0 && ms < maxNumber {
		return time.UnixMilli(ms)
	}
	return time.Now()
}

// history are the readings of a kubelet, the oldest first.
type history []reading

func (h history) last() (reading, bool) {
	if len(h) == 0 {
		return reading{}, false
	}
	return h[len(h)-1], true
}

// with adds a reading to those that are not too old.
func (h history) with(r reading) history {
	young := slices.DeleteFunc(slices.Clone(h), func(old reading) bool { return r.at.Sub(old.at) > keep })
	return append(young, r)
}

// tellsRate says whether there are readings to compare.
func (h history) tellsRate() bool { return len(h) > 1 && h[len(h)-1].at.Sub(h[0].at) >= shortest }

// node is what the node uses.
func (h history) node() (m metrics.NodeMetrics, ok bool) {
	usage, at, window, ok := h.usage(func(r reading) (point, bool) { return r.node, r.node.complete() })
	return metrics.NodeMetrics{Usage: usage, Timestamp: at, Window: window}, ok
}

// pod is what the containers of a pod use. As with metrics-server it is false until all of them can be measured, and
// the time is that of the container that was measured first.
func (h history) pod(namespace, name string) (m metrics.PodMetrics, ok bool) {
	last, ok := h.last()
	containers := last.pods[types.NamespacedName{Namespace: namespace, Name: name}]
	if !ok || len(containers) == 0 {
		return m, false
	}
	for container := range containers {
		usage, at, window, ok := h.usage(func(r reading) (point, bool) {
			p := r.pods[types.NamespacedName{Namespace: namespace, Name: name}][container]
			return p, p.complete()
		})
		if !ok {
			return m, false
		}
		if m.Timestamp.IsZero() || at.Before(&m.Timestamp) {
			m.Timestamp, m.Window = at, window
		}
		m.Containers = append(m.Containers, metrics.ContainerMetrics{Name: container, Usage: usage})
	}
	slices.SortFunc(m.Containers, byName)
	return m, true
}

// usage compares the last reading with an earlier one.
func (h history) usage(of func(reading) (point, bool)) (usage corev1.ResourceList, at metav1.Time, window metav1.Duration, ok bool) {
	r, ok := h.last()
	if !ok {
		return nil, at, window, false
	}
	now, ok := of(r)
	if !ok {
		return nil, at, window, false
	}
	then, ok := h.before(now, of)
	if !ok {
		return nil, at, window, false
	}
	passed := now.at.Sub(then.at)
	nanos := min((now.cpu-then.cpu)/passed.Seconds()*float64(time.Second), maxNumber)
	return corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewScaledQuantity(int64(nanos), resource.Nano),
		corev1.ResourceMemory: *resource.NewQuantity(int64(now.memory), resource.BinarySI),
	}, metav1.NewTime(now.at), metav1.Duration{Duration: passed}, true
}

// before is the point that the last one is compared with: the youngest that is old enough for a smooth rate, else the
// oldest there is. For a container that was not there before, it is its start.
func (h history) before(now point, of func(reading) (point, bool)) (found point, ok bool) {
	for _, r := range slices.Backward(h) {
		p, there := of(r)
		if !there || p.start != now.start || p.cpu > now.cpu {
			break
		}
		if now.at.Sub(p.at) >= shortest {
			found, ok = p, true
		}
		if now.at.Sub(p.at) >= smooth {
			break
		}
	}
	if ok {
		return found, true
	}
	start := time.UnixMilli(int64(now.start * 1000))
	age := now.at.Sub(start)
	return point{at: start}, now.start > 0 && age >= shortest && age <= keep
}
