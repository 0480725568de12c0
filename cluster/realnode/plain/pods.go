package plain

import (
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Pods are those of a node. It makes them what plain processes can be.
type Pods struct {
	// Tell is called once for each pod of which something is left out, with the list.
	Tell func(pod *corev1.Pod, left string)

	mu   sync.Mutex
	told map[types.UID]bool // of those that are there
}

// Adapt returns pods without what cannot be had: the kubelet would want it, or give files to others.
func (p *Pods) Adapt(pods []*corev1.Pod) []*corev1.Pod {
	p.mu.Lock()
	defer p.mu.Unlock()
	told := map[types.UID]bool{}
	adapted := make([]*corev1.Pod, len(pods))
	for i, pod := range pods {
		var left leftOut
		adapted[i] = pod.DeepCopy()
		left.ofPod(&adapted[i].Spec)
		if len(left) > 0 && !p.told[pod.UID] {
			p.Tell(pod, left.String())
		}
		told[pod.UID] = true
	}
	p.told = told
	return adapted
}

// leftOut are the names of what a pod asks for and does not get.
type leftOut []string

// String lists them, each once.
func (l leftOut) String() string {
	names := slices.Clone(l)
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}

func (l *leftOut) note(name string, wanted bool) {
	if wanted {
		*l = append(*l, name)
	}
}

// ofPod takes out what is left out. Privileged containers stay what they are, and are refused later.
func (l *leftOut) ofPod(spec *corev1.PodSpec) {
	l.note("hostNetwork (which all pods have)", spec.HostNetwork)
	spec.HostNetwork = false // the address is the same; the kubelet would take the node's
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

func (l *leftOut) ofContainer(c *corev1.Container) {
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
