package realnode

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	kubetesting "k8s.io/client-go/testing"

	"github.com/slipway-dev/slipway/cluster/node"
	"github.com/slipway-dev/slipway/cluster/realnode/machine"
)

var reportedReady = corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}}

// TestRegister: a Node that is made has what a kubelet gives it and what the kubelet last reported. One that is there,
// or that comes in between, keeps what others gave it.
func TestRegister(t *testing.T) {
	there := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{"by": "user", node.SimulatedLabel: "true"}},
		Spec:       corev1.NodeSpec{Unschedulable: true, PodCIDR: "10.1.0.0/20", PodCIDRs: []string{"10.1.0.0/20"}},
	}
	r := registered{spec: node.Spec{Name: "n", Labels: map[string]string{"zone": "a"}, Taints: []node.Taint{{Key: "k", Effect: corev1.TaintEffectNoSchedule}}}, number: 3, plain: true}
	for name, tt := range map[string]struct {
		client *fake.Clientset
		old    *corev1.Node
		kept   bool
	}{
		"none":           {fake.NewClientset(), nil, false},
		"there":          {fake.NewClientset(there.DeepCopy()), there, true},
		"comes meantime": {fake.NewClientset(there.DeepCopy()), nil, true},
	} {
		conflicts := 0
		tt.client.PrependReactor("update", "nodes", func(kubetesting.Action) (bool, runtime.Object, error) {
			conflicts++
			return conflicts == 1, nil, apierrors.NewConflict(corev1.Resource("nodes"), "n", nil)
		})
		n, err := r.register(t.Context(), tt.client, tt.old, &reportedReady)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for label, value := range map[string]string{corev1.LabelHostname: "n", "zone": "a", node.RealLabel: "true", node.PlainLabel: "true", node.SimulatedLabel: ""} {
			if n.Labels[label] != value {
				t.Errorf("%s: label %s is %q", name, label, n.Labels[label])
			}
		}
		if len(n.Spec.Taints) != 1 || n.Spec.Unschedulable != tt.kept || (n.Labels["by"] == "user") != tt.kept || isReady(n, metav1.Time{}.Time) == tt.kept {
			t.Errorf("%s: %+v", name, n)
		}
		if want := map[bool]string{true: "10.1.0.0/20", false: node.PodRange(3).String()}[tt.kept]; n.Spec.PodCIDR != want || len(n.Spec.PodCIDRs) != 1 || n.Spec.PodCIDRs[0] != want {
			t.Errorf("%s: range %s, want %s", name, n.Spec.PodCIDR, want)
		}
	}
}

// TestFine: only a node that runs is to have a Node.
func TestFine(t *testing.T) {
	n := &Nodes{members: map[string]*member{"runs": {process: &machine.Node{}}, "lost": {}}}
	there := &corev1.Node{Spec: corev1.NodeSpec{PodCIDR: "10.1.0.0/20"}}
	for _, tt := range []struct {
		name  string
		shown *corev1.Node
		want  bool
	}{{"runs", there, true}, {"runs", nil, false}, {"runs", &corev1.Node{}, false}, {"lost", nil, true}, {"another's", nil, true}} {
		if n.needsNoRepair(tt.name, tt.shown) != tt.want {
			t.Errorf("%s, shown %v: want %v", tt.name, tt.shown != nil, tt.want)
		}
	}
}
