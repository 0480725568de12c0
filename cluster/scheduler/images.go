package scheduler

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/slipway-dev/slipway/cluster/node"
	"github.com/slipway-dev/slipway/cluster/realnode/preflight"
)

// Images are those in the cluster's own registry.
type Images interface {
	// Has says whether an image is there, by the name that a pod gives it.
	Has(ref string) bool
	// Follow has f called whenever one has come, until ctx ends.
	Follow(ctx context.Context, f func())
}

// byImage is the name of the plugin.
const byImage = "SlipwayImages"

// placer is the plugin that places pods in a cluster that has simulated and real nodes: those whose images are all in
// the cluster's registry, and of which real nodes refuse nothing, fit on real nodes alone, all others on simulated
// ones alone. It has no say where nodes are of one kind, about nodes of neither kind, and about the pods of
// DaemonSets, each of which is meant for one node.
type placer struct {
	images Images
	claims preflight.Claims
	handle fwk.Handle
}

var (
	_ fwk.PreFilterPlugin   = (*placer)(nil)
	_ fwk.FilterPlugin      = (*placer)(nil)
	_ fwk.EnqueueExtensions = (*placer)(nil)
)

// newPlacer makes the plugin. A pod that waits because of it is tried again when an image comes.
func newPlacer(images Images) func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) {
	return func(ctx context.Context, _ runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
		core := handle.SharedInformerFactory().Core().V1()
		p := &placer{images, claimsFrom(core.PersistentVolumeClaims().Lister(), core.PersistentVolumes().Lister()), handle}
		images.Follow(ctx, func() { p.tryAgain(klog.FromContext(ctx)) })
		return p, nil
	}
}

// Name is the plugin's.
func (p *placer) Name() string { return byImage }

// tryAgain has the scheduler look again at all pods that have no node yet.
func (p *placer) tryAgain(log klog.Logger) {
	all, err := p.handle.SharedInformerFactory().Core().V1().Pods().Lister().List(labels.Everything())
	if err != nil {
		return // an informer's lister has no errors
	}
	waiting := map[string]*corev1.Pod{}
	for _, pod := range all {
		if pod.Spec.NodeName == "" && pod.DeletionTimestamp == nil {
			waiting[pod.Namespace+"/"+pod.Name] = pod
		}
	}
	p.handle.Activate(log, waiting)
}

// EventsToRegister are the changes of the cluster after which a pod may fit.
func (p *placer) EventsToRegister(context.Context) ([]fwk.ClusterEventWithHint, error) {
	return []fwk.ClusterEventWithHint{
		{Event: fwk.ClusterEvent{Resource: fwk.Node, ActionType: fwk.Add | fwk.Delete | fwk.UpdateNodeLabel}},
		{Event: fwk.ClusterEvent{Resource: fwk.PersistentVolumeClaim, ActionType: fwk.Add | fwk.Update}},
	}, nil
}

// finding is what PreFilter finds out about a pod, for Filter.
type finding struct {
	missing string // the first image that the cluster's registry does not have; empty if it has all
	refused string // the first thing that real nodes refuse; empty if there is none
}

// Clone returns the same: it never changes.
func (f *finding) Clone() fwk.StateData { return f }

// PreFilter looks for the pod's images and for what real nodes refuse, if that matters.
func (p *placer) PreFilter(_ context.Context, state fwk.CycleState, pod *corev1.Pod, nodes []fwk.NodeInfo) (*fwk.PreFilterResult, *fwk.Status) {
	mixed, plain := kindsOf(nodes)
	if metav1.GetControllerOf(pod) != nil && metav1.GetControllerOf(pod).Kind == "DaemonSet" || !mixed {
		return nil, fwk.NewStatus(fwk.Skip)
	}
	f := &finding{refused: preflight.Of(pod, plain, p.claims)}
	f.missing = preflight.MissingImage(pod, p.images.Has)
	state.Write(byImage, f)
	return nil, nil
}

// PreFilterExtensions are none: other pods do not matter.
func (p *placer) PreFilterExtensions() fwk.PreFilterExtensions { return nil }

// Filter refuses nodes of the kind that is not the pod's.
func (p *placer) Filter(_ context.Context, state fwk.CycleState, _ *corev1.Pod, info fwk.NodeInfo) *fwk.Status {
	data, err := state.Read(byImage)
	if err != nil {
		return fwk.AsStatus(fmt.Errorf("the pod's images: %w", err))
	}
	f, ok := data.(*finding)
	switch real, simulated := kinds(info.Node()); {
	case !ok:
		return fwk.NewStatus(fwk.Error, "the pod's images are not known")
	case real && f.missing != "":
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable,
			fmt.Sprintf("node(s) real, but image %s is not in the cluster (run slipway image load)", f.missing))
	case real && f.refused != "":
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, fmt.Sprintf("node(s) real, which refuse %s", f.refused))
	case simulated && f.missing == "" && f.refused == "":
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "node(s) simulated, but the pod's images are in the cluster, so it runs on a real node")
	}
	return nil
}

// kindsOf says whether there are nodes of both kinds, and whether the real ones are plain.
func kindsOf(nodes []fwk.NodeInfo) (mixed, plain bool) {
	var anyReal, anySimulated bool
	for _, n := range nodes {
		real, simulated := kinds(n.Node())
		anyReal, anySimulated = anyReal || real, anySimulated || simulated
		plain = plain || real && n.Node().Labels[node.PlainLabel] != ""
	}
	return anyReal && anySimulated, plain
}

// kinds says which kind a node says that it is of.
func kinds(n *corev1.Node) (real, simulated bool) {
	if n == nil {
		return false, false
	}
	return n.Labels[node.RealLabel] != "", n.Labels[node.SimulatedLabel] != ""
}
