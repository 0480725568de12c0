// Package capability computes the Linux capabilities that a container may keep, from the names in its pod.
//
//	set := capability.Of(security)
//	capability.Known("CAP_NET_ADMIN") // true
package capability

import (
	"strings"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// numbers are the capabilities in the kernel's order (linux/capability.h).
var numbers = strings.Fields(`CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE NET_BIND_SERVICE
	NET_BROADCAST NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO SYS_CHROOT SYS_PTRACE SYS_PACCT SYS_ADMIN SYS_BOOT SYS_NICE
	SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG MKNOD LEASE AUDIT_WRITE AUDIT_CONTROL SETFCAP MAC_OVERRIDE MAC_ADMIN SYSLOG WAKE_ALARM BLOCK_SUSPEND
	AUDIT_READ PERFMON BPF CHECKPOINT_RESTORE`)

// usual are the capabilities that container runtimes leave to root by default.
var usual = strings.Fields(`CHOWN DAC_OVERRIDE FOWNER FSETID KILL SETGID SETUID SETPCAP NET_BIND_SERVICE NET_RAW SYS_CHROOT MKNOD AUDIT_WRITE SETFCAP`)

// all has a bit for each capability.
const all = 1<<41 - 1

// Of returns the capabilities that a container's root may keep, as a bit set in the kernel's order. ALL in a list
// applies before the single names. Drop applies after add: a name in both lists is dropped.
func Of(security *runtimeapi.LinuxContainerSecurityContext) uint64 {
	if security.GetPrivileged() {
		return all
	}
	added, everything := parseAll(security.GetCapabilities().GetAddCapabilities())
	dropped, nothing := parseAll(security.GetCapabilities().GetDropCapabilities())
	set, _ := parseAll(usual)
	if everything {
		set = all
	}
	if nothing {
		set = 0
	}
	return (set | added) &^ dropped
}

// parseAll returns the set of the single names, and whether ALL is among them.
func parseAll(names []string) (set uint64, everything bool) {
	for _, name := range names {
		if one := parse(name); one == all {
			everything = true
		} else {
			set |= one
		}
	}
	return set, everything
}

// Known reports whether a capability of that name exists. ALL counts as one.
func Known(name string) bool { return parse(name) != 0 }

// parse returns the set with that capability, or all of them for ALL. It is empty for an unknown name.
func parse(name string) uint64 {
	name = strings.TrimPrefix(strings.ToUpper(name), "CAP_")
	if name == "ALL" {
		return all
	}
	for i, n := range numbers {
		if n == name {
			return 1 << i
		}
	}
	return 0
}
