package plain

import (
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Pods adapts the pods of a node to what plain processes support.
type Pods struct {
	// Report receives each pod with removed fields once, with a list of them.
	Report func(pod *corev1.Pod, left string)

	mu       sync.Mutex
	reported map[types.UID]bool // the node's current pods that have been reported
}

// Adapt returns copies of the pods without unsupported fields. The kubelet would act on those, or change owners of
// files.
func (p *Pods) Adapt(pods []*corev1.Pod) []*corev1.Pod {
	p.mu.Lock()
	defer p.mu.Unlock()
	reported := map[types.UID]bool{}
	adapted := make([]*corev1.Pod, len(pods))
	for i, pod := range pods {
		var left removedFields
		adapted[i] = pod.DeepCopy()
		left.ofPod(&adapted[i].Spec)
		if len(left) > 0 && !p.reported[pod.UID] {
			p.Report(pod, left.String())
		}
		reported[pod.UID] = true
	}
	p.reported = reported
	return adapted
}

// removedFields are the names of the fields that a pod loses.
type removedFields []string

// String lists the names, sorted and without duplicates.
func (l removedFields) String() string {
	names := slices.Clone(l)
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}

func (l *removedFields) note(name string, wanted bool) {
	if wanted {
		*l = append(*l, name)
	}
}

// ofPod removes the unsupported fields. Privileged containers stay so, and the starter refuses them.
func (l *removedFields) ofPod(spec *corev1.PodSpec) {
	l.note("hostNetwork (which all pods have)", spec.HostNetwork)
	spec.HostNetwork = false // pods have this machine's address anyway; the kubelet would use the node's
	if s := spec.SecurityContext; s != nil {
		l.note("runAsUser", s.RunAsUser != nil)
		l.note("runAsGroup", s.RunAsGroup != nil)
		l.note("runAsNonRoot", s.RunAsNonRoot != nil && *s.RunAsNonRoot)
		l.note("fsGroup", s.FSGroup != nil)
		l.note("supplementalGroups", len(s.SupplementalGroups) > 0)
		l.note("sysctls", len(s.Sysctls) > 0)
		l.note("seccompProfile", s.SeccompProfile != nil)
		l.note("appArmorProfile", s.AppArmorProfile != nil)
		l.note("supplementalGroupsPolicy", s.SupplementalGroupsPolicy != nil)
		spec.SecurityContext = &corev1.PodSecurityContext{}
	}
	for i := range spec.InitContainers {
		l.ofContainer(&spec.InitContainers[i])
	}
	for i := range spec.Containers {
		l.ofContainer(&spec.Containers[i])
	}
	for i := range spec.EphemeralContainers {
		c := corev1.Container(spec.EphemeralContainers[i].EphemeralContainerCommon)
		l.ofContainer(&c)
		spec.EphemeralContainers[i].EphemeralContainerCommon = corev1.EphemeralContainerCommon(c)
	}
}

func (l *removedFields) ofContainer(c *corev1.Container) {
	l.note("limits", len(c.Resources.Limits) > 0)
	s := c.SecurityContext
	if s == nil {
		return
	}
	l.note("runAsUser", s.RunAsUser != nil)
	l.note("runAsGroup", s.RunAsGroup != nil)
	l.note("runAsNonRoot", s.RunAsNonRoot != nil && *s.RunAsNonRoot)
	l.note("capabilities", s.Capabilities != nil)
	l.note("readOnlyRootFilesystem", s.ReadOnlyRootFilesystem != nil && *s.ReadOnlyRootFilesystem)
	l.note("seccompProfile", s.SeccompProfile != nil)
	l.note("appArmorProfile", s.AppArmorProfile != nil)
	l.note("procMount", s.ProcMount != nil)
	l.note("allowPrivilegeEscalation", s.AllowPrivilegeEscalation != nil && !*s.AllowPrivilegeEscalation)
	c.SecurityContext = &corev1.SecurityContext{Privileged: s.Privileged}
}
