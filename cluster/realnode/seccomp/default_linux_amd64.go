package seccomp

import (
	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

const architecture = unix.AUDIT_ARCH_X86_64

// machineCalls returns the forbidden calls that only this architecture has.
func machineCalls() []uintptr {
	return []uintptr{
		unix.SYS_CREATE_MODULE, unix.SYS_GET_KERNEL_SYMS, unix.SYS_IOPERM, unix.SYS_IOPL, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_MODIFY_LDT,
		unix.SYS_QUERY_MODULE, unix.SYS_SYSFS, unix.SYS__SYSCTL, unix.SYS_USELIB, unix.SYS_USTAT,
	}
}

// otherTables refuses calls of the x32 ABI, which have other numbers.
func otherTables() []wire.Instruction {
	const x32 = 0x40000000
	return []wire.Instruction{
		{Code: unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K, K: x32, F: 1},
		fail(unix.EPERM),
	}
}
