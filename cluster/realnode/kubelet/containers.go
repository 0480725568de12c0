package kubelet

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/kubelet/cm"
)

// containers stands for the container manager, which manages cgroups elsewhere: upstream's stub, which says at every
// look at a pod that it does not know the pod's cgroup; this one says that there is none.
type containers struct{ cm.ContainerManager }

func newContainers(advertised corev1.ResourceList) containers {
	return containers{cm.NewStubContainerManagerWithDevicePluginResource(advertised)}
}

// NewPodContainerManager is that of pods without cgroups.
func (c containers) NewPodContainerManager() cm.PodContainerManager {
	return podContainers{c.ContainerManager.NewPodContainerManager()}
}

type podContainers struct{ cm.PodContainerManager }

// GetPodCgroupConfig knows of no limits.
func (podContainers) GetPodCgroupConfig(*corev1.Pod, corev1.ResourceName) (*cm.ResourceConfig, error) {
	return nil, nil
}
