package simnode

import (
	"context"
	"runtime"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/kubelet/lifecycle"
	"k8s.io/kubernetes/pkg/kubelet/sysctl"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/slipway-dev/slipway/cluster/simnode/stage"
)

// admission decides which pods a node takes. The decision is the kubelet's own code: it checks again what the scheduler
// has checked, for pods that name their node themselves.
type admission struct {
	kubelet []lifecycle.PodAdmitHandler // in the kubelet's order
	node    func(ctx context.Context, cached bool) (*corev1.Node, error)
	bound   func() []*corev1.Pod // the pods that name the node

	turn   sync.Mutex   // one pod after the other
	shown  *corev1.Node // as the pod in turn was shown it
	unseen error        // why it was not
	taken  map[types.UID]*framework.PodInfo
}

func newAdmission(node func(context.Context, bool) (*corev1.Node, error), bound func() []*corev1.Pod) *admission {
	a := &admission{node: node, bound: bound, taken: map[types.UID]*framework.PodInfo{}}
	if safe := sysctl.SafeSysctlAllowlist(context.Background()); len(safe) > 0 { // which the kubelet knows on Linux only
		if allowed, err := sysctl.NewAllowlist(safe); err == nil { // they are the kubelet's own
			a.kubelet = append(a.kubelet, allowed)
		}
	}
	a.kubelet = append(a.kubelet, lifecycle.NewPredicateAdmitHandler(a.show, lifecycle.NewAdmissionFailureHandlerStub(), a.fill))
	return a
}

// admit takes the pod, or says why the node does not. It fails if the Node cannot be read: a kubelet, which keeps its
// own, would refuse the pod for good.
func (a *admission) admit(ctx context.Context, pod *corev1.Pod) (lifecycle.PodAdmitResult, error) {
	a.turn.Lock()
	defer a.turn.Unlock()
	a.unseen = nil
	attributes := &lifecycle.PodAdmitAttributes{Pod: forThisSystem(pod), Operation: lifecycle.AddOperation}
	for _, handler := range a.kubelet {
		if result := handler.Admit(ctx, attributes); !result.Admit {
			return result, a.unseen
		}
	}
	a.take(pod)
	return lifecycle.PodAdmitResult{Admit: true}, nil
}

// keep takes a pod that the node took earlier.
func (a *admission) keep(pod *corev1.Pod) {
	a.turn.Lock()
	defer a.turn.Unlock()
	a.take(pod)
}

// take needs a.turn. A pod whose affinity is invalid counts with its resources.
func (a *admission) take(pod *corev1.Pod) {
	a.taken[pod.UID], _ = framework.NewPodInfo(pod)
}

// show gives the kubelet a copy, to which it may write.
func (a *admission) show(ctx context.Context, cached bool) (*corev1.Node, error) {
	a.shown, a.unseen = a.node(ctx, cached)
	return a.shown.DeepCopy(), a.unseen
}

// fill puts the pods that the node has into what the kubelet looks at, and the Node as it is: the kubelet has made its
// system that of this program.
func (a *admission) fill(info *framework.NodeInfo, _ *lifecycle.PodAdmitAttributes) error {
	info.SetNode(a.shown)
	taken := map[types.UID]*framework.PodInfo{}
	for _, pod := range a.bound() {
		known := a.taken[pod.UID]
		if known == nil || stage.Terminal(pod.Status.Phase) {
			continue
		}
		if known.Pod.Generation != pod.Generation { // its resources may have changed
			known, _ = framework.NewPodInfo(pod)
		}
		taken[pod.UID] = known
		info.AddPodInfo(known)
	}
	a.taken = taken
	return nil
}

// forThisSystem makes a pod for Linux one for the system of this program, with which the kubelet compares it.
func forThisSystem(pod *corev1.Pod) *corev1.Pod {
	if pod.Spec.OS == nil || pod.Spec.OS.Name != corev1.Linux {
		return pod
	}
	p := *pod
	p.Spec.OS = &corev1.PodOS{Name: corev1.OSName(runtime.GOOS)}
	return &p
}
