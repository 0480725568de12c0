package test

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/slipway-dev/slipway/cluster/protocol"
)

// testResize changes the resources of pods that run, as `kubectl patch --subresource resize` does. What need not be
// restarted runs on, and so do all other pods of the node, which has four processors, so that more can be asked for
// than there is. Where containers have no limits, a resize still becomes true in the pod's status.
func testResize(t *testing.T, c *realCluster) {
	c.create(c.idle("neighbour"))
	for name, policy := range map[string]corev1.ResourceResizeRestartPolicy{"kept": corev1.NotRequired, "restarted": corev1.RestartContainer} {
		p := c.idle(name)
		p.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: cpuAndMemory("100m", "32Mi"), Limits: cpuAndMemory("200m", "64Mi")}
		p.Spec.Containers[0].ResizePolicy = []corev1.ContainerResizePolicy{
			{ResourceName: corev1.ResourceCPU, RestartPolicy: corev1.NotRequired}, {ResourceName: corev1.ResourceMemory, RestartPolicy: policy},
		}
		c.create(p)
	}
	for _, name := range []string{"neighbour", "kept", "restarted"} {
		c.await(name, ready)
	}
	neighbour := c.mainStatus(c.await("neighbour", ready)).ContainerID
	container := c.mainStatus(c.await("kept", ready)).ContainerID
	t.Run("up", func(t *testing.T) { c.resized("kept", cpuAndMemory("300m", "64Mi"), cpuAndMemory("500m", "128Mi")) })
	t.Run("down", func(t *testing.T) { c.resized("kept", cpuAndMemory("50m", "16Mi"), cpuAndMemory("100m", "48Mi")) })
	if now := c.mainStatus(c.await("kept", ready)); now.ContainerID != container || now.RestartCount != 0 {
		t.Errorf("the container was restarted: %+v", now)
	}
	t.Run("cpu alone", func(t *testing.T) { c.resized("restarted", cpuAndMemory("150m", "32Mi"), cpuAndMemory("250m", "64Mi")) })
	if now := c.mainStatus(c.await("restarted", ready)); now.RestartCount != 0 {
		t.Errorf("a resize that needs no restart made one: %+v", now)
	}
	t.Run("with a restart", func(t *testing.T) { c.resized("restarted", cpuAndMemory("150m", "64Mi"), cpuAndMemory("250m", "96Mi")) })
	if now := c.mainStatus(c.await("restarted", ready)); now.RestartCount != 1 {
		t.Errorf("%d restarts", now.RestartCount)
	}
	t.Run("infeasible", func(t *testing.T) { // which the API server sees by the Node
		if err := c.tryResize("kept", onMain(cpuAndMemory("5", "16Mi"), cpuAndMemory("5", "48Mi"))); !apierrors.IsForbidden(err) {
			t.Errorf("more processors than the node has: %v", err)
		}
		c.resized("kept", cpuAndMemory("60m", "16Mi"), cpuAndMemory("100m", "48Mi"))
	})
	t.Run("below what is used", func(t *testing.T) {
		c.resize("kept", cpuAndMemory("60m", "4Ki"), cpuAndMemory("100m", "4Ki"))
		c.await("kept", resizeIs(corev1.PodResizeInProgress, corev1.PodReasonError))
		c.resized("kept", cpuAndMemory("60m", "16Mi"), cpuAndMemory("100m", "48Mi"))
		if now := c.mainStatus(c.await("kept", ready)); now.ContainerID != container {
			t.Errorf("the container was restarted: %+v", now)
		}
	})
	t.Run("deferred", func(t *testing.T) {
		c.create(c.requesting("large", "3"))
		c.await("large", ready)
		c.resize("kept", cpuAndMemory("2", "16Mi"), cpuAndMemory("2", "48Mi"))
		c.await("kept", resizeIs(corev1.PodResizePending, corev1.PodReasonDeferred))
		c.remove("large")
		c.isResized("kept", cpuAndMemory("2", "16Mi"), cpuAndMemory("2", "48Mi"))
	})
	t.Run("of the whole pod", func(t *testing.T) {
		p := c.idle("whole")
		p.Spec.Resources = &corev1.ResourceRequirements{Requests: cpuAndMemory("100m", "32Mi"), Limits: cpuAndMemory("200m", "64Mi")}
		c.create(p)
		c.await("whole", ready)
		want := cpuAndMemory("300m", "96Mi")
		if err := c.tryResize("whole", map[string]any{"resources": map[string]any{"limits": want}}); err != nil {
			t.Fatal(err)
		}
		c.await("whole", func(p *corev1.Pod) bool {
			return settled(p) && p.Status.Resources != nil && sameAmounts(p.Status.Resources.Limits, want)
		})
		c.isLimited("whole", want) // each container may use what the pod may
	})
	if now := c.mainStatus(c.await("neighbour", ready)); now.ContainerID != neighbour || now.RestartCount != 0 {
		t.Errorf("a pod that was not resized was restarted: %+v", now)
	}
	if n := c.status().Nodes.Panics; n != 0 {
		t.Errorf("the kubelet panicked %d times", n)
	}
}

// idle is a pod on the second node that does nothing, listens nowhere, and runs until it is killed.
func (c *realCluster) idle(name string) *corev1.Pod {
	p := c.pod(name, "stubborn")
	p.Spec.TerminationGracePeriodSeconds = new(int64(1))
	onSecond(p)
	return p
}

func cpuAndMemory(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
}

// requesting is a pod that requests processors.
func (c *realCluster) requesting(name, cpu string) *corev1.Pod {
	p := c.idle(name)
	p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}
	return p
}

// resize asks for other resources of a pod's container.
func (c *realCluster) resize(pod string, requests, limits corev1.ResourceList) {
	c.t.Helper()
	if err := c.tryResize(pod, onMain(requests, limits)); err != nil {
		c.t.Fatal(err)
	}
}

func onMain(requests, limits corev1.ResourceList) map[string]any {
	return map[string]any{"containers": []any{
		map[string]any{"name": "main", "resources": corev1.ResourceRequirements{Requests: requests, Limits: limits}},
	}}
}

// tryResize patches the spec of a pod by its subresource.
func (c *realCluster) tryResize(pod string, spec map[string]any) error {
	c.t.Helper()
	patch, err := json.Marshal(map[string]any{"spec": spec})
	if err != nil {
		c.t.Fatal(err)
	}
	_, err = c.client.CoreV1().Pods(c.ns).Patch(c.t.Context(), pod, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "resize")
	return err
}

// resized is resize until it is done.
func (c *realCluster) resized(pod string, requests, limits corev1.ResourceList) {
	c.t.Helper()
	c.resize(pod, requests, limits)
	c.isResized(pod, requests, limits)
}

// isResized waits until a pod has the resources, by its status and, where containers have limits, by its cgroup.
func (c *realCluster) isResized(pod string, requests, limits corev1.ResourceList) {
	c.t.Helper()
	c.await(pod, func(p *corev1.Pod) bool {
		s := c.mainStatus(p)
		return ready(p) && settled(p) && s.Resources != nil && sameAmounts(s.Resources.Requests, requests) && sameAmounts(s.Resources.Limits, limits) &&
			sameAmounts(s.AllocatedResources, requests) && p.Status.Resources != nil && sameAmounts(p.Status.Resources.Limits, limits) && sameAmounts(p.Status.Resources.Requests, requests)
	})
	c.isLimited(pod, limits)
}

// isLimited compares the cgroup of a pod's container, where containers have one.
func (c *realCluster) isLimited(pod string, limits corev1.ResourceList) {
	c.t.Helper()
	if c.config.NodeKind == protocol.PlainNodes || c.noLimits() != "" {
		return
	}
	memory, quota := c.limitFiles(pod)
	if memory != strconv.FormatInt(limits.Memory().Value(), 10) || quota != strconv.FormatInt(limits.Cpu().MilliValue()*100, 10) {
		c.t.Errorf("the cgroup of %s has %s bytes and %s µs, want %s and %s", pod, memory, quota, limits.Memory(), limits.Cpu())
	}
}

// limitFiles are the limits of memory and of processor time in the cgroup of a pod's container, of either version.
func (c *realCluster) limitFiles(pod string) (memory, quota string) {
	c.t.Helper()
	if slices.ContainsFunc(c.groups(), func(path string) bool { return strings.Contains(path, "memory") }) {
		return c.groupFile(pod, "memory", "memory.limit_in_bytes"), c.groupFile(pod, "cpu", "cpu.cfs_quota_us")
	}
	quota, _, _ = strings.Cut(c.groupFile(pod, "", "cpu.max"), " ")
	return c.groupFile(pod, "", "memory.max"), quota
}

func sameAmounts(got, want corev1.ResourceList) bool {
	for name, amount := range want {
		if q := got[name]; q.Cmp(amount) != 0 {
			return false
		}
	}
	return len(got) == len(want)
}

// settled says that no resize is on its way.
func settled(p *corev1.Pod) bool {
	return !slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodResizePending || c.Type == corev1.PodResizeInProgress
	})
}

func resizeIs(kind corev1.PodConditionType, reason string) func(*corev1.Pod) bool {
	return func(p *corev1.Pod) bool {
		return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == kind && c.Status == corev1.ConditionTrue && c.Reason == reason
		})
	}
}
