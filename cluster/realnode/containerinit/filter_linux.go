package containerinit

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// install sets a seccomp filter for this thread and its descendants.
func install(filter []wire.Instruction) error {
	program := make([]unix.SockFilter, len(filter))
	for i, in := range filter {
		program[i] = unix.SockFilter{Code: in.Code, Jt: in.T, Jf: in.F, K: in.K}
	}
	f := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&f)), 0, 0); err != nil {
		return fmt.Errorf("filter system calls: %w", err)
	}
	return nil
}

// ignoreOwners makes changes of a file's owner succeed without effect. A node with one user id can have no other
// owners. Each container sees that id as the one that its image or pod asks for.
func ignoreOwners() error {
	calls := append(ownerCalls(), unix.SYS_FCHOWN, unix.SYS_FCHOWNAT)
	load := wire.Instruction{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}
	filter := []wire.Instruction{load}
	for i, call := range calls {
		filter = append(filter, wire.Instruction{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, T: uint8(len(calls) - i), K: uint32(call)})
	}
	result := func(k uint32) wire.Instruction { return wire.Instruction{Code: unix.BPF_RET | unix.BPF_K, K: k} }
	return install(append(filter, result(unix.SECCOMP_RET_ALLOW), result(unix.SECCOMP_RET_ERRNO)))
}
