package apiserver

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kubernetes/pkg/apis/core"

	"github.com/slipway-dev/slipway/cluster/node"
)

// TestRefusedPods: a pod is refused when it is made if it could only wait on a real node.
func TestRefusedPods(t *testing.T) {
	nodes := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	add := func(name string, labels ...string) {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{}}}
		for _, l := range labels {
			n.Labels[l] = "true"
		}
		if err := nodes.Add(n); err != nil {
			t.Fatal(err)
		}
	}
	r := &refuser{Handler: admission.NewHandler(admission.Create), nodes: corelisters.NewNodeLister(nodes)}
	validate := func(p *core.Pod) error {
		return r.Validate(t.Context(), admission.NewAttributesRecord(p, nil, core.Kind("Pod").WithVersion("v1"), "default", "p",
			core.Resource("pods").WithVersion("v1"), "", admission.Create, &metav1.CreateOptions{}, false, nil), nil)
	}
	hostPath := func(change func(*core.Pod)) *core.Pod {
		p := &core.Pod{Spec: core.PodSpec{Volumes: []core.Volume{{Name: "host", VolumeSource: core.VolumeSource{HostPath: &core.HostPathVolumeSource{Path: "/"}}}}}}
		change(p)
		return p
	}
	bare := hostPath(func(*core.Pod) {})
	on := func(name string) *core.Pod { return hostPath(func(p *core.Pod) { p.Spec.NodeName = name }) }
	daemon := func(name string) *core.Pod {
		return hostPath(func(p *core.Pod) {
			p.OwnerReferences = []metav1.OwnerReference{{Kind: "DaemonSet", Controller: new(true)}}
			field := core.NodeSelectorRequirement{Key: "metadata.name", Operator: core.NodeSelectorOpIn, Values: []string{name}}
			p.Spec.Affinity = &core.Affinity{NodeAffinity: &core.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &core.NodeSelector{
				NodeSelectorTerms: []core.NodeSelectorTerm{{MatchFields: []core.NodeSelectorRequirement{field}}},
			}}}
		})
	}
	accepted := func(what string, p *core.Pod) {
		t.Helper()
		if err := validate(p); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	refused := func(what string, p *core.Pod) {
		t.Helper()
		if err := validate(p); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "real nodes refuse the hostPath volume host") {
			t.Errorf("%s: %v", what, err)
		}
	}

	accepted("without nodes", bare)
	add("real", node.RealLabel)
	refused("with real nodes", bare)
	accepted("without an obstacle", &core.Pod{})
	add("simulated", node.SimulatedLabel)
	accepted("with nodes of both kinds", bare)
	refused("on a real node", on("real"))
	accepted("on a simulated node", on("simulated"))
	accepted("on a node that does not exist", on("absent"))
	refused("a DaemonSet's for a real node", daemon("real"))
	accepted("a DaemonSet's for a simulated node", daemon("simulated"))
}
