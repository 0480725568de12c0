package preflight

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// claimsFor has a claim of each kind.
func claimsFor(_, name string) (*corev1.PersistentVolumeClaim, *corev1.PersistentVolume) {
	claim, block := &corev1.PersistentVolumeClaim{}, corev1.PersistentVolumeBlock
	volume := func(s corev1.PersistentVolumeSource) *corev1.PersistentVolume {
		return &corev1.PersistentVolume{Spec: corev1.PersistentVolumeSpec{PersistentVolumeSource: s}}
	}
	switch name {
	case "ours":
		return claim, volume(corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: VolumeDriver}})
	case "driver":
		return claim, volume(corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "disk.example.com"}})
	case "nfs":
		return claim, volume(corev1.PersistentVolumeSource{NFS: &corev1.NFSVolumeSource{}})
	case "block":
		claim.Spec.VolumeMode = &block
		return claim, nil
	case "unbound":
		return claim, nil
	}
	return nil, nil
}

func volume(s corev1.VolumeSource) func(*corev1.PodSpec) {
	return func(p *corev1.PodSpec) { p.Volumes = append(p.Volumes, corev1.Volume{Name: "data", VolumeSource: s}) }
}

func claimed(name string) func(*corev1.PodSpec) {
	return volume(corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}})
}

func mounted(m corev1.VolumeMount) func(*corev1.PodSpec) {
	return func(p *corev1.PodSpec) { p.Containers[0].VolumeMounts = []corev1.VolumeMount{m} }
}

func TestObstacles(t *testing.T) {
	both, bidirectional := corev1.MountPropagationHostToContainer, corev1.MountPropagationBidirectional
	local := &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeLocalhost}
	for name, c := range map[string]struct {
		change          func(*corev1.PodSpec)
		isolated, plain string
	}{
		"nothing":        {func(*corev1.PodSpec) {}, "", ""},
		"emptyDir":       {volume(corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}), "", ""},
		"no source":      {volume(corev1.VolumeSource{}), "", ""},
		"hostPath":       {volume(corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}), "the hostPath volume data", "the hostPath volume data"},
		"nfs":            {volume(corev1.VolumeSource{NFS: &corev1.NFSVolumeSource{}}), "the nfs volume data", "the nfs volume data"},
		"our claim":      {claimed("ours"), "", ""},
		"unbound claim":  {claimed("unbound"), "", ""},
		"no claim":       {claimed("none"), "", ""},
		"driver's claim": {claimed("driver"), "the volume of claim driver, which is of the driver disk.example.com", "the volume of claim driver, which is of the driver disk.example.com"},
		"nfs claim":      {claimed("nfs"), "the nfs volume of claim nfs", "the nfs volume of claim nfs"},
		"block claim":    {claimed("block"), "the block device of claim block", "the block device of claim block"},
		"hostPID":        {func(p *corev1.PodSpec) { p.HostPID = true }, "hostPID", "hostPID"},
		"hostIPC":        {func(p *corev1.PodSpec) { p.HostIPC = true }, "hostIPC", "hostIPC"},
		"shared":         {func(p *corev1.PodSpec) { p.ShareProcessNamespace = new(true) }, "shareProcessNamespace", "shareProcessNamespace"},
		"own users":      {func(p *corev1.PodSpec) { p.HostUsers = new(false) }, "hostUsers: false", "hostUsers: false"},
		"host's users":   {func(p *corev1.PodSpec) { p.HostUsers = new(true) }, "", ""},
		"runtime class": {func(p *corev1.PodSpec) { p.RuntimeClassName = new("gvisor") },
			"the runtime class gvisor", "the runtime class gvisor"},
		"no runtime class": {func(p *corev1.PodSpec) { p.RuntimeClassName = new("") }, "", ""},
		"seccomp": {func(p *corev1.PodSpec) { p.SecurityContext = &corev1.PodSecurityContext{SeccompProfile: local} },
			"a seccomp profile of the type Localhost", ""},
		"container's": {func(p *corev1.PodSpec) {
			p.Containers[0].SecurityContext = &corev1.SecurityContext{SeccompProfile: local}
		},
			"a seccomp profile of the type Localhost", ""},
		"sysctl": {func(p *corev1.PodSpec) {
			p.SecurityContext = &corev1.PodSecurityContext{Sysctls: []corev1.Sysctl{{Name: "net.a"}, {Name: "kernel.b"}}}
		}, "the sysctl kernel.b", ""},
		"privileged": {func(p *corev1.PodSpec) {
			p.Containers[0].SecurityContext = &corev1.SecurityContext{Privileged: new(true)}
		},
			"", "the privileged container main where pods are plain processes"},
		"mount":       {mounted(corev1.VolumeMount{MountPath: "/data", MountPropagation: &both}), "", ""},
		"propagation": {mounted(corev1.VolumeMount{MountPath: "/data", MountPropagation: &bidirectional}), "mountPropagation Bidirectional of container main", "mountPropagation Bidirectional of container main"},
		"on root":     {mounted(corev1.VolumeMount{MountPath: "/a/.."}), "the volume mounted on / of container main", "the volume mounted on / of container main"},
		"in proc":     {mounted(corev1.VolumeMount{MountPath: "/proc/a"}), "the volume mounted on /proc/a of container main", "the volume mounted on /proc/a of container main"},
		"an initial container's": {func(p *corev1.PodSpec) {
			p.InitContainers = []corev1.Container{{Name: "first", VolumeDevices: []corev1.VolumeDevice{{DevicePath: "/dev/x"}}}}
		}, "the block device /dev/x of container first", "the block device /dev/x of container first"},
	} {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main"}}}}
			c.change(&pod.Spec)
			if got := Of(pod, false, claimsFor); got != c.isolated {
				t.Errorf("isolated nodes: %q, want %q", got, c.isolated)
			}
			if got := Of(pod, true, claimsFor); got != c.plain {
				t.Errorf("plain nodes: %q, want %q", got, c.plain)
			}
		})
	}
}
