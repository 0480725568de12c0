package kubelet

import (
	"reflect"
	"slices"
	"testing"

	cadvisorapi "github.com/google/cadvisor/lib/model"
	corev1 "k8s.io/api/core/v1"
	internalapi "k8s.io/cri-api/pkg/apis"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/kubelet/cadvisor"
	"k8s.io/kubernetes/pkg/kubelet/cm"
	schedulerframework "k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/slipway-dev/slipway/cluster/realnode/nodeconfig"
)

// answer is a check of what a method returns. The kubelet dereferences pointers, maps it writes to and interfaces
// whose error is nil; it only ranges over slices and maps, and a receive from a nil channel waits.
type answer func(t *testing.T) bool

// complete fails if a method of an interface has no check, or if one fails: a release of Kubernetes that adds a
// method adds a decision.
func complete[Interface any](t *testing.T, answers map[string]answer) {
	t.Helper()
	of := reflect.TypeFor[Interface]()
	var methods []string
	for i := range of.NumMethod() {
		methods = append(methods, of.Method(i).Name)
	}
	for name, holds := range answers {
		if !slices.Contains(methods, name) {
			t.Errorf("%s has no method %s", of, name)
		}
		if !holds(t) {
			t.Errorf("%s: the answer of %s is not what the kubelet expects", of, name)
		}
	}
	for _, name := range methods {
		if answers[name] == nil {
			t.Errorf("nothing is known of the answer of %s.%s", of, name)
		}
	}
}

func ok(errs ...error) answer {
	return func(*testing.T) bool { return !slices.ContainsFunc(errs, func(err error) bool { return err != nil }) }
}

func is(holds bool) answer { return func(*testing.T) bool { return holds } }

// TestContainerManagerAnswers: each answer is one that the kubelet goes on with.
func TestContainerManagerAnswers(t *testing.T) {
	ctx, log := t.Context(), klog.Background()
	advertised := corev1.ResourceList{"example.com/gpu": amounts("2", "1Gi")[corev1.ResourceCPU]}
	c := newContainers(advertised)
	pod := podWith("p", amounts("1", "1Gi"), amounts("1", "1Gi"))
	container := &pod.Spec.Containers[0]
	before := c.InternalContainerLifecycle(log) // the kubelet asks for it before it starts the manager
	capacity, allocatable, inactive := c.GetDevicePluginResourceCapacity(log)
	resources, resourcesErr := c.GetResources(ctx, pod, container)
	complete[cm.ContainerManager](t, map[string]answer{
		"Start":                               ok(c.Start(ctx, nil, nil, nil, nil, nil, internalapi.RuntimeService(nil), false)),
		"SystemCgroupsLimit":                  is(c.SystemCgroupsLimit() != nil),
		"GetNodeConfig":                       is(c.GetNodeConfig().CPUManagerPolicy == "" && c.GetNodeConfig().MemoryManagerPolicy == ""), // resizes of guaranteed pods are infeasible with others
		"Status":                              is(c.Status().SoftRequirements == nil),
		"NewPodContainerManager":              is(c.NewPodContainerManager() != nil),
		"GetMountedSubsystems":                is(c.GetMountedSubsystems() != nil),
		"GetQOSContainersInfo":                is(c.GetQOSContainersInfo().Guaranteed == nil),
		"GetNodeAllocatableReservation":       is(len(c.GetNodeAllocatableReservation()) == 0),
		"GetCapacity":                         is(c.GetCapacity(log, false) != nil && c.GetCapacity(log, true) != nil),
		"GetDevicePluginResourceCapacity":     is(len(capacity) == 1 && len(allocatable) == 1 && len(inactive) == 0),
		"UpdateQOSCgroups":                    ok(c.UpdateQOSCgroups(log)),
		"GetResources":                        is(resources != nil && resourcesErr == nil),
		"UpdatePluginResources":               ok(c.UpdatePluginResources(&schedulerframework.NodeInfo{}, nil)),
		"InternalContainerLifecycle":          ok(before.PreCreateContainer(log, pod, container, nil), before.PreStartContainer(log, pod, container, "id"), before.PostStopContainer(log, "id")),
		"GetPodCgroupRoot":                    is(c.GetPodCgroupRoot() == ""),
		"GetPluginRegistrationHandlers":       is(len(c.GetPluginRegistrationHandlers()) == 0),
		"GetHealthCheckers":                   is(len(c.GetHealthCheckers()) == 0),
		"ShouldResetExtendedResourceCapacity": is(!c.ShouldResetExtendedResourceCapacity()),
		"GetAllocateResourcesPodAdmitHandler": is(c.GetAllocateResourcesPodAdmitHandler(log) != nil),
		"GetNodeAllocatableAbsolute":          is(len(c.GetNodeAllocatableAbsolute()) == 0),
		"PrepareDynamicResources":             ok(c.PrepareDynamicResources(ctx, pod)),
		"UnprepareDynamicResources":           ok(c.UnprepareDynamicResources(ctx, pod)),
		"PodMightNeedToUnprepareResources":    is(!c.PodMightNeedToUnprepareResources(pod.UID)),
		"UpdateAllocatedResourcesStatus":      func(*testing.T) bool { c.UpdateAllocatedResourcesStatus(log, pod, &pod.Status); return true },
		"Updates":                             is(c.Updates() == nil), // nothing ever comes
		"PodHasExclusiveCPUs":                 is(!c.PodHasExclusiveCPUs(log, pod)),
		"ContainerHasExclusiveCPUs":           is(!c.ContainerHasExclusiveCPUs(log, pod, container)),
		"GetCPUs":                             is(len(c.GetCPUs(pod, container)) == 0),
		"GetPodCPUs":                          is(len(c.GetPodCPUs("p")) == 0),
		"GetAllocatableCPUs":                  is(len(c.GetAllocatableCPUs()) == 0),
		"GetDevices":                          is(len(c.GetDevices("p", "main")) == 0),
		"GetAllocatableDevices":               is(len(c.GetAllocatableDevices(log)) == 0),
		"UpdateAllocatedDevices":              func(*testing.T) bool { c.UpdateAllocatedDevices(log); return true },
		"GetMemory":                           is(len(c.GetMemory(log, pod, container)) == 0),
		"GetPodMemory":                        is(len(c.GetPodMemory(log, "p")) == 0),
		"GetAllocatableMemory":                is(len(c.GetAllocatableMemory(log)) == 0),
		"GetDynamicResources":                 is(len(c.GetDynamicResources(log, pod, container)) == 0),
	})
}

// TestHardwareAnswers does the same for cAdvisor.
func TestHardwareAnswers(t *testing.T) {
	dir := t.TempDir()
	var h cadvisor.Interface = newHardware(nodeconfig.Config{Name: "n"}, folders{root: dir, images: dir, containers: dir})
	machine, machineErr := h.MachineInfo(klog.Background())
	version, versionErr := h.VersionInfo()
	all, allErr := h.ContainerInfoV2(wholeNode, cadvisorapi.RequestOptions{})
	none, noneErr := h.ContainerInfoV2("/other", cadvisorapi.RequestOptions{})
	requested, requestedErr := h.GetRequestedContainersInfo("/", cadvisorapi.RequestOptions{})
	fs := func(f func() (cadvisorapi.FsInfo, error)) answer {
		info, err := f()
		return is(err == nil && info.Capacity > 0 && info.Inodes != nil && info.InodesFree != nil)
	}
	complete[cadvisor.Interface](t, map[string]answer{
		"Start":                      ok(h.Start()),
		"MachineInfo":                is(machineErr == nil && machine != nil && machine.NumCores > 0),
		"VersionInfo":                is(versionErr == nil && version != nil),
		"ContainerInfoV2":            is(allErr == nil && len(all) == 1 && len(all[wholeNode].Stats) == 1 && all[wholeNode].Stats[0].Memory != nil && all[wholeNode].Stats[0].Cpu != nil && noneErr == nil && none != nil && len(none) == 0),
		"GetRequestedContainersInfo": is(requestedErr == nil && requested != nil),
		"ImagesFsInfo":               fs(func() (cadvisorapi.FsInfo, error) { return h.ImagesFsInfo(t.Context()) }),
		"RootFsInfo":                 fs(h.RootFsInfo),
		"ContainerFsInfo":            fs(func() (cadvisorapi.FsInfo, error) { return h.ContainerFsInfo(t.Context()) }),
		"GetDirFsInfo":               fs(func() (cadvisorapi.FsInfo, error) { return h.GetDirFsInfo(dir) }),
	})
}
