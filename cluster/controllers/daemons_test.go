package controllers

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	appslisters "k8s.io/client-go/listers/apps/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/slipway-dev/slipway/cluster/node"
)

func nodeWith(name string, kinds ...string) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"name": name}}}
	for _, kind := range kinds {
		n.Labels[kind] = "true"
	}
	return n
}

// TestDaemonsAvoidNodesThatRefuse: a DaemonSet keeps away from real nodes if they refuse its pods and there is a
// simulated one, whichever way it is looked up; its own wishes hold besides.
func TestDaemonsAvoidNodesThatRefuse(t *testing.T) {
	real, simulated, foreign := nodeWith("real", node.RealLabel), nodeWith("simulated", node.SimulatedLabel), nodeWith("foreign")
	plain := nodeWith("plain", node.RealLabel, node.PlainLabel)
	onHost := func(s *corev1.PodSpec) {
		s.Volumes = []corev1.Volume{{Name: "host", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{}}}}
	}
	privileged := func(s *corev1.PodSpec) {
		s.Containers[0].SecurityContext = &corev1.SecurityContext{Privileged: new(true)}
	}
	only := func(nodes ...string) func(*corev1.PodSpec) {
		return func(s *corev1.PodSpec) {
			terms := []corev1.NodeSelectorTerm{{}} // which no node meets
			for _, n := range nodes {
				terms = append(terms, corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{
					{Key: "name", Operator: corev1.NodeSelectorOpIn, Values: []string{n}},
				}})
			}
			s.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms},
			}}
		}
	}
	for name, c := range map[string]struct {
		nodes  []*corev1.Node
		wishes []func(*corev1.PodSpec)
		want   []string
	}{
		"nothing refused":          {[]*corev1.Node{real, simulated, foreign}, nil, []string{"real", "simulated", "foreign"}},
		"hostPath":                 {[]*corev1.Node{real, simulated, foreign}, []func(*corev1.PodSpec){onHost}, []string{"simulated", "foreign"}},
		"hostPath, all real":       {[]*corev1.Node{real, foreign}, []func(*corev1.PodSpec){onHost}, []string{"real", "foreign"}},
		"hostPath on two":          {[]*corev1.Node{real, simulated, foreign}, []func(*corev1.PodSpec){onHost, only("real", "foreign")}, []string{"foreign"}},
		"hostPath on none":         {[]*corev1.Node{real, simulated, foreign}, []func(*corev1.PodSpec){onHost, only()}, nil},
		"privileged":               {[]*corev1.Node{real, simulated}, []func(*corev1.PodSpec){privileged}, []string{"real", "simulated"}},
		"privileged, beside plain": {[]*corev1.Node{plain, simulated}, []func(*corev1.PodSpec){privileged}, []string{"simulated"}},
	} {
		t.Run(name, func(t *testing.T) {
			set := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "agent"}}
			set.Spec.Template.Spec.Containers = []corev1.Container{{Name: "main"}}
			for _, wish := range c.wishes {
				wish(&set.Spec.Template.Spec)
			}
			before := set.DeepCopy()
			lister := daemonSetLister{appslisters.NewDaemonSetLister(indexed(t, set)), corelisters.NewNodeLister(indexed(t, c.nodes...))}
			for _, seen := range seenBy(t, lister) {
				again, err := avoiding(seen, lister.nodes)
				if err != nil || again.Spec.Template.Spec.Affinity.String() != seen.Spec.Template.Spec.Affinity.String() {
					t.Errorf("a second time it becomes %v (%v)", again.Spec.Template.Spec.Affinity, err)
				}
				spec := seen.Spec.Template.Spec
				affinity, fits := nodeaffinity.NewRequiredNodeAffinity(spec.NodeSelector, spec.Affinity), []string(nil)
				for _, n := range c.nodes {
					if ok, err := affinity.Match(n); ok && err == nil {
						fits = append(fits, n.Name)
					}
				}
				if !slices.Equal(fits, c.want) {
					t.Errorf("it is on %v, want %v", fits, c.want)
				}
			}
			if set.String() != before.String() {
				t.Error("what the informer has was changed")
			}
		})
	}
}

// seenBy looks the DaemonSet up in each way.
func seenBy(t *testing.T, l daemonSetLister) []*appsv1.DaemonSet {
	t.Helper()
	all, err := l.List(labels.Everything())
	if err != nil {
		t.Fatal(err)
	}
	of, err := l.DaemonSets("ns").List(labels.Everything())
	if err != nil {
		t.Fatal(err)
	}
	one, err := l.DaemonSets("ns").Get("agent")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.DaemonSets("ns").Get("none"); err == nil {
		t.Error("a DaemonSet that does not exist was found")
	}
	return append(append(all, of...), one)
}
