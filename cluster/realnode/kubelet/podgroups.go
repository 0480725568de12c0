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

// podGroups stands for the cgroups of pods. Only containers have cgroups here, which are the runtime's. The kubelet
// makes, reads, changes and removes a pod's nevertheless: it resizes a pod by the difference between what the pod's
// cgroup has and what the pod is to have, and shows what the cgroup has in the pod's status. So each pod has its
// configuration here, as it would be read back from the second version of cgroups.
//
// Upstream: pkg/kubelet/cm/pod_container_manager_linux.go and cgroup_v2_manager_linux.go.
type podGroups struct {
	mu   sync.Mutex
	pods map[types.UID]cm.ResourceConfig
}

var _ cm.PodContainerManager = (*podGroups)(nil)

func newPodGroups() *podGroups { return &podGroups{pods: map[types.UID]cm.ResourceConfig{}} }

// errNoGroup marks a pod that the kubelet has made no cgroup for, or has removed it.
var errNoGroup = errors.New("the pod has no cgroup")

const (
	// quotaPeriod is the kubelet's default, in microseconds.
	quotaPeriod = 100_000
	// unlimited is how the kubelet reads `max` of a limit of memory or processor time.
	unlimited = -1
)

// groupName names the cgroup of a pod. No such path exists, so there is no literal form.
func groupName(pod types.UID) cm.CgroupName { return cm.CgroupName{string(pod)} }

// GetPodContainerName names a pod's cgroup. The literal form would be the parent of the containers' cgroups.
func (*podGroups) GetPodContainerName(pod *corev1.Pod) (cm.CgroupName, string) {
	return groupName(pod.UID), ""
}

// EnsureExists remembers what the pod may use in all, unless that is known.
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

// with is c with what is set in changes, which may be nil.
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

// set copies the value, which is the kubelet's to change.
func set[T any](to **T, value *T) {
	if value != nil {
		*to = ptr.To(*value)
	}
}

// Exists says whether [podGroups.EnsureExists] was called since the pod began. The kubelet calls it for each pod that
// it begins with.
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

// Destroy forgets a pod; one that is not there is gone already.
func (g *podGroups) Destroy(_ klog.Logger, name cm.CgroupName) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, uid := range name {
		delete(g.pods, types.UID(uid))
	}
	return nil
}

// ReduceCPULimits does nothing: the kubelet calls it for pods none of whose processes are left.
func (*podGroups) ReduceCPULimits(klog.Logger, cm.CgroupName) error { return nil }

// GetAllPodsFromCgroups lists the pods, so that the kubelet destroys the groups of those that are gone.
func (g *podGroups) GetAllPodsFromCgroups(klog.Logger) (map[types.UID]cm.CgroupName, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	all := make(map[types.UID]cm.CgroupName, len(g.pods))
	for uid := range g.pods {
		all[uid] = groupName(uid)
	}
	return all, nil
}

// IsPodCgroup is false, as no cgroup has a literal name.
func (*podGroups) IsPodCgroup(string) (bool, types.UID) { return false, "" }

// GetPodCgroupMemoryUsage is an error: the runtime measures pods (PodSandboxStats).
func (*podGroups) GetPodCgroupMemoryUsage(*corev1.Pod) (uint64, error) { return 0, errNoGroup }

// GetPodCgroupConfig reads back what a pod may use. It is an error or a configuration whose fields for the resource are
// all set: the kubelet dereferences Memory, or CPUShares, CPUQuota and CPUPeriod.
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

// SetPodCgroupConfig changes what a pod may use, as far as the configuration says. The containers' cgroups, which hold
// the processes, are changed by the runtime (UpdateContainerResources).
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
