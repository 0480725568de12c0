package kubelet

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/kubelet/cm"
)

// containers stands for the container manager, which manages cgroups, processors and devices elsewhere: upstream's
// stub, but for the pods' cgroups.
type containers struct {
	cm.ContainerManager
	groups *podGroups
}

func newContainers(advertised corev1.ResourceList) containers {
	return containers{cm.NewStubContainerManagerWithDevicePluginResource(advertised), newPodGroups()}
}

// NewPodContainerManager returns the same one each time, for the kubelet asks anew whenever it needs one.
func (c containers) NewPodContainerManager() cm.PodContainerManager { return c.groups }
