package cri

import (
	"errors"
	"fmt"
	"strings"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/slipway-dev/slipway/cluster/realnode/capability"
)

// refuse returns an error for namespaces that the runtime does not support.
func refuse(o *runtimeapi.NamespaceOption) error {
	switch {
	case o.GetPid() == runtimeapi.NamespaceMode_NODE:
		return fmt.Errorf("%w: hostPID", ErrUnsupported)
	case o.GetPid() == runtimeapi.NamespaceMode_POD:
		return fmt.Errorf("%w: shareProcessNamespace", ErrUnsupported)
	case o.GetPid() == runtimeapi.NamespaceMode_TARGET:
		return fmt.Errorf("%w: a container that sees another's processes (kubectl debug --target); without --target it runs", ErrUnsupported)
	case o.GetIpc() == runtimeapi.NamespaceMode_NODE:
		return fmt.Errorf("%w: hostIPC", ErrUnsupported)
	}
	return nil
}

// refuseHandler refuses every handler but the default one, whose name is empty. A pod that needs another one would run
// without its protection.
func refuseHandler(handler string) error {
	if handler == "" {
		return nil
	}
	return fmt.Errorf("%w: a runtime class with the handler %s", ErrUnsupported, handler)
}

// refuseSettings refuses sysctls outside the pod's own network.
func refuseSettings(config *runtimeapi.PodSandboxConfig) error {
	ownNetwork := config.GetLinux().GetSecurityContext().GetNamespaceOptions().GetNetwork() != runtimeapi.NamespaceMode_NODE
	for name := range config.GetLinux().GetSysctls() {
		if !ownNetwork || !strings.HasPrefix(name, "net.") && !strings.HasPrefix(name, "net/") {
			return fmt.Errorf("%w: the sysctl %s; only those that begin with net. are supported, for pods with their own network", ErrUnsupported, name)
		}
	}
	return nil
}

// errNoUser refuses a group without a user. The CRI demands that, since the image's user is unknown.
var errNoUser = errors.New("runAsGroup is set, but no user")

// refuseSecurity refuses unsupported fields of a security context. To ignore them would remove a protection that the
// pod's author relies on.
func refuseSecurity(security *runtimeapi.LinuxContainerSecurityContext) error {
	if security.GetRunAsGroup() != nil && security.GetRunAsUser() == nil && security.GetRunAsUsername() == "" {
		return errNoUser
	}
	switch seccomp := security.GetSeccomp(); {
	case security.GetPrivileged(): // seccomp and AppArmor profiles do not apply to it
		return nil
	case seccomp.GetProfileType() == runtimeapi.SecurityProfile_Localhost:
		return fmt.Errorf("%w: the seccomp profile %s from a file; only RuntimeDefault is supported", ErrUnsupported, seccomp.GetLocalhostRef())
	case security.GetApparmor().GetProfileType() == runtimeapi.SecurityProfile_Localhost:
		return fmt.Errorf("%w: the AppArmor profile %s", ErrUnsupported, security.GetApparmor().GetLocalhostRef())
	}
	for _, name := range append(security.GetCapabilities().GetAddCapabilities(), security.GetCapabilities().GetDropCapabilities()...) {
		if !capability.Known(name) {
			return fmt.Errorf("unknown capability %q", name)
		}
	}
	return nil
}

// refuseDevices refuses devices of the node, and mounts that propagate to it.
func refuseDevices(config *runtimeapi.ContainerConfig) error {
	if len(config.GetDevices())+len(config.GetCDIDevices()) > 0 {
		return fmt.Errorf("%w: devices", ErrUnsupported)
	}
	for _, m := range config.GetMounts() {
		if m.GetPropagation() == runtimeapi.MountPropagation_PROPAGATION_BIDIRECTIONAL {
			return fmt.Errorf("%w: mountPropagation Bidirectional, of %s", ErrUnsupported, m.GetContainerPath())
		}
	}
	return nil
}
