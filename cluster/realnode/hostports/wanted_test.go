package hostports

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// running is a pod that has an address.
func running(name string, age time.Duration, ports ...corev1.ContainerPort) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns", UID: types.UID(name), CreationTimestamp: metav1.NewTime(time.Unix(1000, 0).Add(-age))},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Ports: ports}}},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.128.0.7"},
	}
}

// TestWanted: host ports lead to pods that run, from loopback alone; the others are reported.
func TestWanted(t *testing.T) {
	port := corev1.ContainerPort{HostPort: 8000, ContainerPort: 80}
	with := func(change func(*corev1.Pod)) *corev1.Pod {
		p := running("a", 0, port)
		change(p)
		return p
	}
	for name, tt := range map[string]struct {
		pods    []*corev1.Pod
		plain   bool
		want    string
		refused string
	}{
		"none":           {pods: []*corev1.Pod{running("a", 0, corev1.ContainerPort{ContainerPort: 80})}},
		"one":            {pods: []*corev1.Pod{running("a", 0, port)}, want: "127.0.0.1:8000=10.128.0.7:80"},
		"everywhere":     {pods: []*corev1.Pod{running("a", 0, corev1.ContainerPort{HostPort: 8000, ContainerPort: 80, HostIP: "0.0.0.0", Protocol: corev1.ProtocolTCP})}, want: "127.0.0.1:8000=10.128.0.7:80"},
		"loopback":       {pods: []*corev1.Pod{running("a", 0, corev1.ContainerPort{HostPort: 8000, ContainerPort: 80, HostIP: "127.0.0.9"})}, want: "127.0.0.9:8000=10.128.0.7:80"},
		"another":        {pods: []*corev1.Pod{running("a", 0, corev1.ContainerPort{HostPort: 8000, ContainerPort: 80, HostIP: "192.0.2.1"})}, refused: "hostIP 192.0.2.1"},
		"a registry's":   {pods: []*corev1.Pod{running("a", 0, corev1.ContainerPort{HostPort: 5001, ContainerPort: 80})}, refused: "127.0.0.1:5001 is not served"},
		"a cluster's":    {pods: []*corev1.Pod{running("a", 0, corev1.ContainerPort{HostPort: 8000, ContainerPort: 80, HostIP: "127.81.17.1"})}, refused: "reserved for Services"},
		"IPv6":           {pods: []*corev1.Pod{running("a", 0, corev1.ContainerPort{HostPort: 8000, ContainerPort: 80, HostIP: "::1"})}, refused: "hostIP ::1"},
		"UDP":            {pods: []*corev1.Pod{running("a", 0, corev1.ContainerPort{HostPort: 53, ContainerPort: 53, Protocol: corev1.ProtocolUDP})}, refused: "only TCP"},
		"the older one":  {pods: []*corev1.Pod{running("b", 0, port), running("a", time.Hour, port)}, want: "127.0.0.1:8000=10.128.0.7:80", refused: "pod ns/a"},
		"host's network": {pods: []*corev1.Pod{with(func(p *corev1.Pod) { p.Spec.HostNetwork = true })}},
		"pending":        {pods: []*corev1.Pod{with(func(p *corev1.Pod) { p.Status.Phase = corev1.PodPending })}},
		"no address":     {pods: []*corev1.Pod{with(func(p *corev1.Pod) { p.Status.PodIP = "" })}},
		"sidecar": {pods: []*corev1.Pod{with(func(p *corev1.Pod) {
			p.Spec.InitContainers, p.Spec.Containers = p.Spec.Containers, nil
		})}, want: "127.0.0.1:8000=10.128.0.7:80"},
		"plain":         {plain: true, pods: []*corev1.Pod{running("a", 0, port)}, want: "127.0.0.1:8000=10.128.0.7:80"},
		"plain, itself": {plain: true, pods: []*corev1.Pod{running("a", 0, corev1.ContainerPort{HostPort: 80, ContainerPort: 80})}},
	} {
		ports, refused := wanted(tt.pods, tt.plain)
		var got []string
		for at, p := range ports {
			got = append(got, fmt.Sprintf("%s=%s", at, p.to))
		}
		slices.Sort(got)
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
		if (len(refused) > 0) != (tt.refused != "") || len(refused) > 0 && !strings.Contains(refused[0].why, tt.refused) {
			t.Errorf("%s: refused %+v, want %q", name, refused, tt.refused)
		}
		for _, p := range slices.Collect(maps.Values(ports)) {
			if name == "the older one" && p.pod != "a" {
				t.Errorf("%s: pod %s has it", name, p.pod)
			}
		}
	}
}

// TestMostPorts: a pod with a great many host ports gets as many as there are.
func TestMostPorts(t *testing.T) {
	var many []corev1.ContainerPort
	for i := range int32(2 * mostPorts) {
		many = append(many, corev1.ContainerPort{HostPort: 8000 + i, ContainerPort: 80})
	}
	ports, refused := wanted([]*corev1.Pod{running("a", 0, many...)}, false)
	if len(ports) != mostPorts || len(refused) != mostPorts {
		t.Errorf("%d ports, %d refused", len(ports), len(refused))
	}
}
