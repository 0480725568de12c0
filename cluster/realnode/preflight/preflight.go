// Package preflight finds the fields of a pod that real nodes refuse. Four components ask it, and so decide alike: the
// scheduler, the API server's admission, simulated nodes for their Events, and real nodes for volumes.
//
//	if what := preflight.Of(pod, plain, claims); what != "" {
//		return fmt.Errorf("real nodes refuse %s", what)
//	}
package preflight

import (
	"path"
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// VolumeDriver is the CSI driver of the cluster's own volumes, and the provisioner of their storage classes. Real nodes
// mount no other persistent volumes.
const VolumeDriver = "volume.slipway.dev"

// Claims returns a claim and the volume that it is bound to. Either may be nil.
type Claims func(namespace, name string) (*corev1.PersistentVolumeClaim, *corev1.PersistentVolume)

// Of returns the first field of a pod that real nodes refuse, such as "the hostPath volume data". It returns "" if they
// run the pod. plain means nodes without namespaces.
func Of(pod *corev1.Pod, plain bool, claims Claims) string {
	for _, found := range []string{ofNamespaces(&pod.Spec), ofVolumes(pod, claims), ofSettings(&pod.Spec, plain)} {
		if found != "" {
			return found
		}
	}
	for _, c := range containersOf(&pod.Spec) {
		if found := ofContainer(c, plain); found != "" {
			return found
		}
	}
	return ""
}

func ofNamespaces(spec *corev1.PodSpec) string {
	switch {
	case spec.HostPID:
		return "hostPID"
	case spec.HostIPC:
		return "hostIPC"
	case spec.ShareProcessNamespace != nil && *spec.ShareProcessNamespace:
		return "shareProcessNamespace"
	case spec.HostUsers != nil && !*spec.HostUsers: // the kubelet refuses it, because no runtime handler supports it
		return "hostUsers: false"
	case spec.RuntimeClassName != nil && *spec.RuntimeClassName != "": // every class has a handler, and this runtime has none
		return "the runtime class " + *spec.RuntimeClassName
	case len(spec.ResourceClaims) > 0:
		return "the resource claim " + spec.ResourceClaims[0].Name
	}
	return ""
}

func ofVolumes(pod *corev1.Pod, claims Claims) string {
	for _, v := range pod.Spec.Volumes {
		switch {
		case v.ConfigMap != nil, v.Secret != nil, v.Projected != nil, v.DownwardAPI != nil, v.EmptyDir != nil, v.Image != nil:
		case v.PersistentVolumeClaim != nil:
			if found := ofClaim(pod.Namespace, v.PersistentVolumeClaim.ClaimName, claims); found != "" {
				return found
			}
		case v.Ephemeral != nil:
			if t := v.Ephemeral.VolumeClaimTemplate; t != nil && isBlock(t.Spec.VolumeMode) {
				return "the block device of volume " + v.Name
			}
		default:
			if kind := sourceOf(v.VolumeSource); kind != "" { // the API defaults a volume without a source to emptyDir
				return "the " + kind + " volume " + v.Name
			}
		}
	}
	return ""
}

func ofClaim(namespace, name string, claims Claims) string {
	claim, volume := claims(namespace, name)
	switch {
	case claim != nil && isBlock(claim.Spec.VolumeMode):
		return "the block device of claim " + name
	case volume == nil:
		return ""
	case volume.Spec.CSI != nil && volume.Spec.CSI.Driver == VolumeDriver:
		return ""
	case volume.Spec.CSI != nil:
		return "the volume of claim " + name + ", which is of the driver " + volume.Spec.CSI.Driver
	}
	return "the " + sourceOf(volume.Spec.PersistentVolumeSource) + " volume of claim " + name
}

func isBlock(mode *corev1.PersistentVolumeMode) bool {
	return mode != nil && *mode == corev1.PersistentVolumeBlock
}

// sourceOf returns the API's name of the volume's type, such as hostPath.
func sourceOf(source any) string {
	v := reflect.ValueOf(source)
	for i := range v.NumField() {
		if f := v.Field(i); f.Kind() == reflect.Pointer && !f.IsNil() {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			return name
		}
	}
	return ""
}

// ofSettings checks the pod's security context. Plain nodes ignore that.
func ofSettings(spec *corev1.PodSpec, plain bool) string {
	s := spec.SecurityContext
	if s == nil || plain {
		return ""
	}
	if found := ofProfiles(s.SeccompProfile, s.AppArmorProfile); found != "" {
		return found
	}
	for _, c := range s.Sysctls {
		if spec.HostNetwork || !strings.HasPrefix(c.Name, "net.") && !strings.HasPrefix(c.Name, "net/") {
			return "the sysctl " + c.Name
		}
	}
	return ""
}

func ofProfiles(seccomp *corev1.SeccompProfile, appArmor *corev1.AppArmorProfile) string {
	switch {
	case seccomp != nil && seccomp.Type == corev1.SeccompProfileTypeLocalhost:
		return "a seccomp profile of the type Localhost"
	case appArmor != nil && appArmor.Type == corev1.AppArmorProfileTypeLocalhost:
		return "an AppArmor profile of the type Localhost"
	}
	return ""
}

func containersOf(spec *corev1.PodSpec) []*corev1.Container {
	var all []*corev1.Container
	for i := range spec.InitContainers {
		all = append(all, &spec.InitContainers[i])
	}
	for i := range spec.Containers {
		all = append(all, &spec.Containers[i])
	}
	return all
}

func ofContainer(c *corev1.Container, plain bool) string {
	privileged := c.SecurityContext != nil && c.SecurityContext.Privileged != nil && *c.SecurityContext.Privileged
	switch {
	case privileged && plain:
		return "the privileged container " + c.Name + " where pods are plain processes"
	case len(c.VolumeDevices) > 0:
		return "the block device " + c.VolumeDevices[0].DevicePath + " of container " + c.Name
	case c.SecurityContext != nil && !privileged && !plain:
		if found := ofProfiles(c.SecurityContext.SeccompProfile, c.SecurityContext.AppArmorProfile); found != "" {
			return found
		}
	}
	for _, m := range c.VolumeMounts {
		if found := ofMount(m); found != "" {
			return found + " of container " + c.Name
		}
	}
	return ""
}

func ofMount(m corev1.VolumeMount) string {
	if m.MountPropagation != nil && *m.MountPropagation == corev1.MountPropagationBidirectional {
		return "mountPropagation Bidirectional"
	}
	if at := path.Clean("/" + m.MountPath); at == "/" || at == "/proc" || strings.HasPrefix(at, "/proc/") {
		return "the volume mounted on " + at
	}
	return ""
}

// MissingImage returns the pod's first image that does not exist by has, or "".
func MissingImage(pod *corev1.Pod, has func(ref string) bool) string {
	for _, c := range containersOf(&pod.Spec) {
		if !has(c.Image) {
			return c.Image
		}
	}
	for _, c := range pod.Spec.EphemeralContainers {
		if !has(c.Image) {
			return c.Image
		}
	}
	for _, v := range pod.Spec.Volumes {
		if v.Image != nil && v.Image.Reference != "" && !has(v.Image.Reference) {
			return v.Image.Reference
		}
	}
	return ""
}
