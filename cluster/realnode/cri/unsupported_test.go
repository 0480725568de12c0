package cri

import (
	"errors"
	"testing"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// TestUnsupported: what would be left out of a container's security is refused, not passed over.
func TestUnsupported(t *testing.T) {
	r := &Runtime{sandboxes: map[string]*sandbox{"pod": {}}}
	local := &runtimeapi.SecurityProfile{ProfileType: runtimeapi.SecurityProfile_Localhost, LocalhostRef: "profile"}
	for what, security := range map[string]*runtimeapi.LinuxContainerSecurityContext{
		"a seccomp profile":    {Seccomp: local},
		"an AppArmor profile":  {Apparmor: local},
		"the host's processes": {NamespaceOptions: &runtimeapi.NamespaceOption{Pid: runtimeapi.NamespaceMode_NODE}},
	} {
		config := &runtimeapi.ContainerConfig{Linux: &runtimeapi.LinuxContainerConfig{SecurityContext: security}}
		if _, err := r.CreateContainer(t.Context(), "pod", config, nil); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, config := range map[string]*runtimeapi.ContainerConfig{
		"a device":               {Devices: []*runtimeapi.Device{{HostPath: "/dev/kvm"}}},
		"a device by its name":   {CDIDevices: []*runtimeapi.CDIDevice{{Name: "gpu"}}},
		"mounts made for others": {Mounts: []*runtimeapi.Mount{{Propagation: runtimeapi.MountPropagation_PROPAGATION_BIDIRECTIONAL}}},
	} {
		if _, err := r.CreateContainer(t.Context(), "pod", config, nil); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for name, network := range map[string]runtimeapi.NamespaceMode{"kernel.shm_rmid_forced": runtimeapi.NamespaceMode_POD, "net.core.somaxconn": runtimeapi.NamespaceMode_NODE} {
		linux := &runtimeapi.LinuxPodSandboxConfig{Sysctls: map[string]string{name: "1"}, SecurityContext: &runtimeapi.LinuxSandboxSecurityContext{
			NamespaceOptions: &runtimeapi.NamespaceOption{Network: network},
		}}
		if _, err := r.RunPodSandbox(t.Context(), &runtimeapi.PodSandboxConfig{Linux: linux}, ""); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := r.RunPodSandbox(t.Context(), &runtimeapi.PodSandboxConfig{}, "gvisor"); !errors.Is(err, ErrUnsupported) {
		t.Errorf("another runtime: %v", err)
	}
	group := &runtimeapi.LinuxContainerSecurityContext{RunAsGroup: &runtimeapi.Int64Value{Value: 1}}
	if err := refuseSecurity(group); !errors.Is(err, errNoUser) {
		t.Errorf("a group without a user: %v", err)
	}
	misspelt := &runtimeapi.LinuxContainerSecurityContext{Capabilities: &runtimeapi.Capability{DropCapabilities: []string{"NET_RAV"}}}
	if refuseSecurity(misspelt) == nil {
		t.Error("a capability that there is not is dropped")
	}
}
