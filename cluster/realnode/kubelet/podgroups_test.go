package kubelet

import (
	"errors"
	"runtime"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/kubelet/cm"
)

func podWith(uid types.UID, requests, limits corev1.ResourceList) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: uid, Name: string(uid)}, Spec: corev1.PodSpec{
		Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: requests, Limits: limits}}},
	}}
}

func amounts(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
}

// TestPodGroups follows a pod's cgroup from its creation by way of a resize to its end, as the kubelet does.
func TestPodGroups(t *testing.T) {
	log := klog.Background()
	c := newContainers(nil)
	limited, free := podWith("limited", amounts("100m", "64Mi"), amounts("200m", "128Mi")), podWith("free", nil, nil)
	if c.NewPodContainerManager().Exists(limited) {
		t.Error("a pod that has not begun has a cgroup")
	}
	if config, err := c.NewPodContainerManager().GetPodCgroupConfig(limited, corev1.ResourceCPU); !errors.Is(err, errNoGroup) || config != nil {
		t.Errorf("%+v, %v", config, err)
	}
	if err := c.NewPodContainerManager().SetPodCgroupConfig(log, limited, &cm.ResourceConfig{}); !errors.Is(err, errNoGroup) {
		t.Error(err)
	}
	for _, p := range []*corev1.Pod{limited, free, limited} {
		if err := c.NewPodContainerManager().EnsureExists(log, p); err != nil || !c.NewPodContainerManager().Exists(p) {
			t.Error(err)
		}
	}
	if runtime.GOOS == "linux" { // elsewhere the kubelet resizes no pods, and computes no configuration
		c.has(t, limited, 128<<20, 102, 20_000)
	}
	c.has(t, free, unlimited, cm.MinShares, unlimited)

	memory, quota := int64(256<<20), int64(50_000)
	if err := errors.Join(
		c.NewPodContainerManager().SetPodCgroupConfig(log, free, &cm.ResourceConfig{Memory: &memory}),
		c.NewPodContainerManager().SetPodCgroupConfig(log, free, &cm.ResourceConfig{CPUQuota: &quota}),
	); err != nil {
		t.Fatal(err)
	}
	memory, quota = 0, 0 // the kubelet goes on with what it gave
	c.has(t, free, 256<<20, cm.MinShares, 50_000)
	read, err := c.NewPodContainerManager().GetPodCgroupConfig(free, corev1.ResourceMemory)
	if err != nil {
		t.Fatal(err)
	}
	*read.Memory = 0 // and with what it got
	c.has(t, free, 256<<20, cm.MinShares, 50_000)
	if config, err := c.NewPodContainerManager().GetPodCgroupConfig(free, "example.com/gpu"); err == nil {
		t.Errorf("%+v", config)
	}

	name, literal := c.NewPodContainerManager().GetPodContainerName(free)
	if ok, uid := c.NewPodContainerManager().IsPodCgroup(literal); literal != "" || ok || uid != "" {
		t.Errorf("%q is the cgroup of %q: %v", literal, uid, ok)
	}
	all, err := c.NewPodContainerManager().GetAllPodsFromCgroups(log)
	if err != nil || len(all) != 2 || all["free"].ToCgroupfs() != name.ToCgroupfs() {
		t.Errorf("%v, %v", all, err)
	}
	if _, err := c.NewPodContainerManager().GetPodCgroupMemoryUsage(free); err == nil {
		t.Error("the memory of a pod is measured in two places")
	}
	if err := errors.Join(c.NewPodContainerManager().ReduceCPULimits(log, name), c.NewPodContainerManager().Destroy(log, name), c.NewPodContainerManager().Destroy(log, name)); err != nil {
		t.Error(err)
	}
	if c.NewPodContainerManager().Exists(free) || !c.NewPodContainerManager().Exists(limited) {
		t.Error("another pod was destroyed")
	}
}

// has compares what the kubelet reads of a pod, every field of which it dereferences.
func (c containers) has(t *testing.T, pod *corev1.Pod, memory int64, shares uint64, quota int64) {
	t.Helper()
	groups := c.NewPodContainerManager()
	m, err := groups.GetPodCgroupConfig(pod, corev1.ResourceMemory)
	if err != nil || m == nil || m.Memory == nil || *m.Memory != memory || m.CPUShares != nil {
		t.Errorf("%s: memory %+v, %v", pod.UID, m, err)
	}
	p, err := groups.GetPodCgroupConfig(pod, corev1.ResourceCPU)
	switch {
	case err != nil || p == nil || p.CPUShares == nil || p.CPUQuota == nil || p.CPUPeriod == nil || p.Memory != nil:
		t.Errorf("%s: processors %+v, %v", pod.UID, p, err)
	case *p.CPUShares != shares || *p.CPUQuota != quota || *p.CPUPeriod != quotaPeriod:
		t.Errorf("%s: %d shares, %d of %d", pod.UID, *p.CPUShares, *p.CPUQuota, *p.CPUPeriod)
	}
}
