package kubelet

import (
	"errors"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	kubeletconfig "k8s.io/kubernetes/pkg/kubelet/apis/config"
	"k8s.io/kubernetes/pkg/kubelet/cm"
	"k8s.io/utils/ptr"
)

// podGroups stands in for the cgroups of pods: here only containers have cgroups, which the runtime makes. The kubelet
// still makes, reads, changes and removes those of pods. It resizes a pod by the difference between the cgroup's
// configuration and the wanted one, and reports the former in the pod's status. So podGroups keeps a configuration for
// each pod, with the values that cgroup v2 would read back.
//
// Upstream: pkg/kubelet/cm/pod_container_manager_linux.go and cgroup_v2_manager_linux.go.
type podGroups struct {
	mu   sync.Mutex
	pods map[types.UID]cm.ResourceConfig
}

var _ cm.PodContainerManager = (*podGroups)(nil)

func newPodGroups() *podGroups { return &podGroups{pods: map[types.UID]cm.ResourceConfig{}} }

// errNoGroup means that the kubelet has not made the pod's cgroup, or has removed it.
var errNoGroup = errors.New("the pod has no cgroup")

const (
	// quotaPeriod is the kubelet's default period of CPU quotas, in microseconds.
	quotaPeriod = 100_000
	// unlimited is the value that the kubelet reads for `max`, as a limit of memory or CPU.
	unlimited = -1
)

func groupName(pod types.UID) cm.CgroupName { return cm.CgroupName{string(pod)} }

// GetPodContainerName returns no literal name, because no cgroup exists that could be the parent of the containers'.
func (*podGroups) GetPodContainerName(pod *corev1.Pod) (cm.CgroupName, string) {
	return groupName(pod.UID), ""
}

// EnsureExists records the pod's resources at its first call. Later calls change nothing.
func (g *podGroups) EnsureExists(_ klog.Logger, pod *corev1.Pod) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, ok := g.pods[pod.UID]; ok {
		return nil
	}
	c := cm.ResourceConfig{
		Memory: ptr.To[int64](unlimited), CPUQuota: ptr.To[int64](unlimited), CPUPeriod: ptr.To[uint64](quotaPeriod), CPUShares: ptr.To[uint64](cm.MinShares),
	}
	g.pods[pod.UID] = with(c, cm.ResourceConfigForPod(pod, true, quotaPeriod, false, kubeletconfig.NoneMemoryReservationPolicy))
	return nil
}

// with returns c with the fields that changes sets. changes may be nil.
func with(c cm.ResourceConfig, changes *cm.ResourceConfig) cm.ResourceConfig {
	if changes == nil {
		return c
	}
	set(&c.Memory, changes.Memory)
	set(&c.CPUQuota, changes.CPUQuota)
	set(&c.CPUPeriod, changes.CPUPeriod)
	set(&c.CPUShares, changes.CPUShares)
	return c
}

// set copies the value, because the kubelet may change its own.
func set[T any](to **T, value *T) {
	if value != nil {
		*to = ptr.To(*value)
	}
}

// Exists reports whether the pod's configuration is recorded. It must be false before [podGroups.EnsureExists]: in
// between the kubelet records the pod's resources.
func (g *podGroups) Exists(pod *corev1.Pod) bool {
	_, err := g.of(pod.UID)
	return err == nil
}

func (g *podGroups) of(pod types.UID) (cm.ResourceConfig, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if c, ok := g.pods[pod]; ok {
		return c, nil
	}
	return cm.ResourceConfig{}, fmt.Errorf("%w: %s", errNoGroup, pod)
}

// Destroy forgets a pod. It returns nil for an unknown one.
func (g *podGroups) Destroy(_ klog.Logger, name cm.CgroupName) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, uid := range name {
		delete(g.pods, types.UID(uid))
	}
	return nil
}

// ReduceCPULimits does nothing: the kubelet calls it for orphaned pods, whose processes have ended.
func (*podGroups) ReduceCPULimits(klog.Logger, cm.CgroupName) error { return nil }

// GetAllPodsFromCgroups returns the recorded pods, so that the kubelet destroys those that are gone.
func (g *podGroups) GetAllPodsFromCgroups(klog.Logger) (map[types.UID]cm.CgroupName, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	all := make(map[types.UID]cm.CgroupName, len(g.pods))
	for uid := range g.pods {
		all[uid] = groupName(uid)
	}
	return all, nil
}

// IsPodCgroup returns false, as no cgroup has a literal name.
func (*podGroups) IsPodCgroup(string) (bool, types.UID) { return false, "" }

// GetPodCgroupMemoryUsage returns an error: the runtime measures pods (PodSandboxStats).
func (*podGroups) GetPodCgroupMemoryUsage(*corev1.Pod) (uint64, error) { return 0, errNoGroup }

// GetPodCgroupConfig returns an error, or a configuration in which all fields for the resource are set. The kubelet
// dereferences Memory, or CPUShares, CPUQuota and CPUPeriod.
func (g *podGroups) GetPodCgroupConfig(pod *corev1.Pod, resource corev1.ResourceName) (*cm.ResourceConfig, error) {
	c, err := g.of(pod.UID)
	if err != nil {
		return nil, err
	}
	switch resource {
	case corev1.ResourceMemory:
		c = cm.ResourceConfig{Memory: c.Memory}
	case corev1.ResourceCPU:
		c.Memory = nil
	default:
		return nil, fmt.Errorf("%s is not a resource that cgroups of pods limit", resource)
	}
	return new(with(cm.ResourceConfig{}, &c)), nil
}

// SetPodCgroupConfig records the fields that the configuration sets. The runtime changes the containers' real cgroups
// (UpdateContainerResources).
func (g *podGroups) SetPodCgroupConfig(_ klog.Logger, pod *corev1.Pod, to *cm.ResourceConfig) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	c, ok := g.pods[pod.UID]
	if !ok {
		return fmt.Errorf("%w: %s", errNoGroup, pod.UID)
	}
	g.pods[pod.UID] = with(c, to)
	return nil
}
