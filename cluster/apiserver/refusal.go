package apiserver

import (
	"context"
	"fmt"
	"io"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/client-go/informers"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/plugin/pkg/admission/noderestriction"

	"github.com/slipway-dev/slipway/cluster/node"
	"github.com/slipway-dev/slipway/cluster/realnode/preflight"
)

// refusing is the name of the admission plugin.
const refusing = "SlipwayRealNodes"

// refuser is the admission plugin that refuses a pod of which real nodes refuse something, if all nodes that it may
// be on are real. It would wait on one for good; its author learns of it at once, and of a controller's pod in the
// controller's events.
type refuser struct {
	*admission.Handler
	nodes corelisters.NodeLister
}

var _ admission.ValidationInterface = (*refuser)(nil)

// addRefuser adds the plugin to those that the server has by default.
func addRefuser(s *options.ServerRunOptions) {
	generic := s.Admission.GenericAdmission
	generic.Plugins.Register(refusing, func(io.Reader) (admission.Interface, error) {
		return &refuser{Handler: admission.NewHandler(admission.Create)}, nil
	})
	order := slices.Clone(generic.RecommendedPluginOrder) // which all servers share
	generic.RecommendedPluginOrder = slices.Insert(order, slices.Index(order, noderestriction.PluginName), refusing)
}

// SetExternalKubeInformerFactory lets it follow the nodes.
func (r *refuser) SetExternalKubeInformerFactory(f informers.SharedInformerFactory) {
	r.nodes = f.Core().V1().Nodes().Lister()
	r.SetReadyFunc(f.Core().V1().Nodes().Informer().HasSynced)
}

// ValidateInitialization has nothing to say.
func (r *refuser) ValidateInitialization() error { return nil }

// Validate refuses a new pod that could only wait.
func (r *refuser) Validate(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if a.GetResource().GroupResource() != core.Resource("pods") || a.GetSubresource() != "" {
		return nil
	}
	real, plain, err := r.realOnly(a)
	if err != nil || !real {
		return err
	}
	pod := &corev1.Pod{}
	if err := legacyscheme.Scheme.Convert(a.GetObject(), pod, nil); err != nil {
		return fmt.Errorf("look at the pod: %w", err)
	}
	what := preflight.Of(pod, plain, unknownClaims)
	if what == "" {
		return nil
	}
	return admission.NewForbidden(a, fmt.Errorf("real nodes refuse %s, and this pod has no other node "+
		"(slipway cluster start --nodes real --simulate-missing-images adds a simulated one)", what))
}

// unknownClaims leaves claims to the kubelet: most are not bound yet.
func unknownClaims(string, string) (*corev1.PersistentVolumeClaim, *corev1.PersistentVolume) {
	return nil, nil
}

// realOnly says whether all nodes that a pod may be on are real, as far as that is certain, and whether those are
// plain.
func (r *refuser) realOnly(a admission.Attributes) (real, plain bool, err error) {
	nodes, err := r.nodes.List(labels.Everything())
	if err != nil {
		return false, false, err
	}
	pod, ok := a.GetObject().(*core.Pod)
	if !ok {
		return false, false, nil
	}
	if only := nodeOf(pod); only != "" {
		nodes = slices.DeleteFunc(nodes, func(n *corev1.Node) bool { return n.Name != only })
	}
	for _, n := range nodes {
		if n.Labels[node.RealLabel] == "" {
			return false, false, nil
		}
		plain = plain || n.Labels[node.PlainLabel] != ""
	}
	return len(nodes) > 0, plain, nil
}

// nodeOf is the node that a pod is meant for: that which it names, or that which its DaemonSet does.
func nodeOf(pod *core.Pod) string {
	owner := metav1.GetControllerOf(pod)
	if pod.Spec.NodeName != "" || owner == nil || owner.Kind != "DaemonSet" {
		return pod.Spec.NodeName
	}
	if pod.Spec.Affinity == nil || pod.Spec.Affinity.NodeAffinity == nil || pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return ""
	}
	for _, term := range pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		for _, field := range term.MatchFields {
			if field.Key == metav1.ObjectNameField && len(field.Values) == 1 {
				return field.Values[0]
			}
		}
	}
	return ""
}
