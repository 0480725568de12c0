// Package capability knows the capabilities of Linux, by the names that pods give them, and which of them a container
// may keep.
//
//	set := capability.Of(security)
//	capability.Known("CAP_NET_ADMIN") // true
package capability

import (
	"strings"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// numbers are the capabilities in the kernel's order.
var numbers = strings.Fields(`CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE NET_BIND_SERVICE
	NET_BROADCAST NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO SYS_CHROOT SYS_PTRACE SYS_PACCT SYS_ADMIN SYS_BOOT SYS_NICE
	SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG MKNOD LEASE AUDIT_WRITE AUDIT_CONTROL SETFCAP MAC_OVERRIDE MAC_ADMIN SYSLOG WAKE_ALARM BLOCK_SUSPEND
	AUDIT_READ PERFMON BPF CHECKPOINT_RESTORE`)

// usual are those that container runtimes leave to root.
var usual = strings.Fields(`CHOWN DAC_OVERRIDE FOWNER FSETID KILL SETGID SETUID SETPCAP NET_BIND_SERVICE NET_RAW SYS_CHROOT MKNOD AUDIT_WRITE SETFCAP`)

// all has a bit for each of numbers.
const all = 1<<41 - 1

// Of is the set, a bit for each in the kernel's order, that a container's root may keep. ALL comes before single names,
// so that these may be taken from it or added to none. Drop comes after add: a name in both lists is dropped.
func Of(security *runtimeapi.LinuxContainerSecurityContext) uint64 {
	if security.GetPrivileged() {
		return all
	}
	added, everything := together(security.GetCapabilities().GetAddCapabilities())
	dropped, nothing := together(security.GetCapabilities().GetDropCapabilities())
	set, _ := together(usual)
	if everything {
		set = all
	}
	if nothing {
		set = 0
	}
	return (set | added) &^ dropped
}

// together is the set of those single names, and whether ALL is among them.
func together(names []string) (set uint64, everything bool) {
	for _, name := range names {
		if one := named(name); one == all {
			everything = true
		} else {
			set |= one
		}
	}
	return set, everything
}

// Known says whether there is a capability of that name; ALL is one.
func Known(name string) bool { return named(name) != 0 }

// named is a set with that one, or with all of them; unknown ones are none.
func named(name string) uint64 {
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
