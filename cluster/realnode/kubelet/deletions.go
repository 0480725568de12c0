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

// deletionWatcher makes the kubelet look at a pod as soon as the pod is deleted. A pod's worker stops containers only
// after a look that is newer than its last sync. If that sync was a moment ago, the next look would be up to a second
// away.
//
// It wraps the kubelet's latency tracker, which sees each pod that the kubelet receives.
type deletionWatcher struct {
	kubeletutil.PodStartupLatencyTracker
	look func(types.UID)

	mu   sync.Mutex
	seen sets.Set[types.UID]
}

func newDeletions(tracker kubeletutil.PodStartupLatencyTracker, look func(types.UID)) *deletionWatcher {
	return &deletionWatcher{PodStartupLatencyTracker: tracker, look: look, seen: sets.New[types.UID]()}
}

// ObservedPodOnWatch receives all pods of the node whenever one changes.
func (d *deletionWatcher) ObservedPodOnWatch(logger klog.Logger, pod *corev1.Pod, when time.Time) {
	d.PodStartupLatencyTracker.ObservedPodOnWatch(logger, pod, when)
	if pod.DeletionTimestamp != nil && d.isNew(pod.UID) {
		d.look(pod.UID)
	}
}

func (d *deletionWatcher) isNew(pod types.UID) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.seen.Has(pod) {
		return false
	}
	d.seen.Insert(pod)
	return true
}

// DeletePodStartupState forgets a pod that is gone.
func (d *deletionWatcher) DeletePodStartupState(pod types.UID) {
	d.PodStartupLatencyTracker.DeletePodStartupState(pod)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seen.Delete(pod)
}
