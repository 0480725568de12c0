package kubelet

import (
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	kubeletutil "k8s.io/kubernetes/pkg/kubelet/util"
)

// deletions notes when a pod is deleted, and has the pod looked at. A pod's worker ends its containers only after a
// look at them that is newer than what it did last; when that was a moment ago, as for a pod that just became ready,
// the next look is up to a second away.
//
// It sees each pod that the kubelet is given, as the tracker of their latency does that it stands before.
type deletions struct {
	kubeletutil.PodStartupLatencyTracker
	look func(types.UID)

	mu   sync.Mutex
	seen sets.Set[types.UID]
}

func newDeletions(tracker kubeletutil.PodStartupLatencyTracker, look func(types.UID)) *deletions {
	return &deletions{PodStartupLatencyTracker: tracker, look: look, seen: sets.New[types.UID]()}
}

// ObservedPodOnWatch gets all pods of the node whenever one changes.
func (d *deletions) ObservedPodOnWatch(logger klog.Logger, pod *corev1.Pod, when time.Time) {
	d.PodStartupLatencyTracker.ObservedPodOnWatch(logger, pod, when)
	if pod.DeletionTimestamp != nil && d.isNew(pod.UID) {
		d.look(pod.UID)
	}
}

func (d *deletions) isNew(pod types.UID) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.seen.Has(pod) {
		return false
	}
	d.seen.Insert(pod)
	return true
}

// DeletePodStartupState forgets a pod that is gone.
func (d *deletions) DeletePodStartupState(pod types.UID) {
	d.PodStartupLatencyTracker.DeletePodStartupState(pod)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seen.Delete(pod)
}
