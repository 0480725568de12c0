package seccomp

import (
	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// forbidden returns the calls that always fail with EPERM.
func forbidden() []uintptr {
	return append([]uintptr{
		unix.SYS_ACCT, unix.SYS_ADD_KEY, unix.SYS_BPF, unix.SYS_CLOCK_ADJTIME, unix.SYS_CLOCK_SETTIME, unix.SYS_DELETE_MODULE,
		unix.SYS_FANOTIFY_INIT, unix.SYS_FINIT_MODULE, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSOPEN, unix.SYS_FSPICK,
		unix.SYS_GET_MEMPOLICY, unix.SYS_INIT_MODULE, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER, unix.SYS_IO_URING_SETUP,
		unix.SYS_KCMP, unix.SYS_KEXEC_LOAD, unix.SYS_KEYCTL, unix.SYS_LOOKUP_DCOOKIE, unix.SYS_MBIND, unix.SYS_MOUNT,
		unix.SYS_MOUNT_SETATTR, unix.SYS_MOVE_MOUNT, unix.SYS_MOVE_PAGES, unix.SYS_NFSSERVCTL, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_OPEN_TREE,
		unix.SYS_PERF_EVENT_OPEN, unix.SYS_PERSONALITY, unix.SYS_PIVOT_ROOT, unix.SYS_PROCESS_MADVISE, unix.SYS_QUOTACTL,
		unix.SYS_REBOOT, unix.SYS_REQUEST_KEY, unix.SYS_SETDOMAINNAME, unix.SYS_SETHOSTNAME, unix.SYS_SETNS, unix.SYS_SETTIMEOFDAY,
		unix.SYS_SET_MEMPOLICY, unix.SYS_SWAPOFF, unix.SYS_SWAPON, unix.SYS_SYSLOG, unix.SYS_UMOUNT2, unix.SYS_UNSHARE,
		unix.SYS_USERFAULTFD, unix.SYS_VHANGUP,
	}, machineCalls()...)
}

// newNamespaces are the forbidden flags of clone.
const newNamespaces = unix.CLONE_NEWCGROUP | unix.CLONE_NEWIPC | unix.CLONE_NEWNET | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWUSER | unix.CLONE_NEWUTS

// Offsets in struct seccomp_data.
const (
	atCall         = 0
	atArchitecture = 4
	atFirst        = 16 // the lower half of the first argument, on little-endian machines
)

// Default returns the filter of the profile RuntimeDefault.
func Default() []wire.Instruction {
	p := program{
		load(atArchitecture), skipIf(architecture, 1), fail(unix.EPERM),
		load(atCall),
	}
	p = append(p, otherTables()...)
	p = append(p, failFor(forbidden(), unix.EPERM)...)
	return append(p,
		skipUnless(unix.SYS_CLONE3, 1), fail(unix.ENOSYS),
		skipUnless(unix.SYS_CLONE, 4),
		load(atFirst), and(newNamespaces), skipIf(0, 1), fail(unix.EPERM),
		wire.Instruction{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	)
}

type program = []wire.Instruction

func load(at uint32) wire.Instruction {
	return wire.Instruction{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
}

func and(k uint32) wire.Instruction {
	return wire.Instruction{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: k}
}

// skipIf skips n instructions if the value is k.
func skipIf(k uint32, n uint8) wire.Instruction {
	return wire.Instruction{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: k, T: n}
}

// skipUnless skips n instructions if the value is not k.
func skipUnless(k uint32, n uint8) wire.Instruction {
	return wire.Instruction{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: k, F: n}
}

// failFor makes these calls fail. There must be at most 255, because a jump's offset is a byte.
func failFor(calls []uintptr, errno unix.Errno) (p program) {
	for i, call := range calls {
		p = append(p, skipIf(uint32(call), uint8(len(calls)-i)))
	}
	return append(p, skip(1), fail(errno))
}

func skip(n uint32) wire.Instruction {
	return wire.Instruction{Code: unix.BPF_JMP | unix.BPF_JA, K: n}
}

func fail(errno unix.Errno) wire.Instruction {
	return wire.Instruction{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(errno)}
}
