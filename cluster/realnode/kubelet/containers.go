package kubelet

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/kubelet/cm"
)

// containers is the kubelet's container manager, which elsewhere manages cgroups, processors and devices: upstream's
// stub, except for the pods' cgroups.
type containers struct {
	cm.ContainerManager
	groups *podGroups
}

func newContainers(advertised corev1.ResourceList) containers {
	return containers{cm.NewStubContainerManagerWithDevicePluginResource(advertised), newPodGroups()}
}

// NewPodContainerManager returns one shared manager: the kubelet calls it anew for each use.
func (c containers) NewPodContainerManager() cm.PodContainerManager { return c.groups }
