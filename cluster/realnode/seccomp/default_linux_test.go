package seccomp

import (
	"encoding/binary"
	"slices"
	"testing"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// TestDefault asks the filter about calls, in the virtual machine of a library.
func TestDefault(t *testing.T) {
	vm := machine(t)
	const allowed, forbidden, missing = unix.SECCOMP_RET_ALLOW, unix.SECCOMP_RET_ERRNO | int(unix.EPERM), unix.SECCOMP_RET_ERRNO | int(unix.ENOSYS)
	for _, test := range []struct {
		what               string
		architecture, call uint32
		argument           uint32
		want               int
	}{
		{"read", architecture, unix.SYS_READ, 0, allowed},
		{"openat", architecture, unix.SYS_OPENAT, 0, allowed},
		{"mount", architecture, unix.SYS_MOUNT, 0, forbidden},
		{"unshare", architecture, unix.SYS_UNSHARE, 0, forbidden},
		{"bpf", architecture, unix.SYS_BPF, 0, forbidden},
		{"a thread", architecture, unix.SYS_CLONE, unix.CLONE_VM | unix.CLONE_THREAD, allowed},
		{"a new user namespace", architecture, unix.SYS_CLONE, unix.CLONE_NEWUSER, forbidden},
		{"clone3", architecture, unix.SYS_CLONE3, 0, missing},
		{"another architecture", architecture + 1, unix.SYS_READ, 0, forbidden},
	} {
		if got, err := vm.Run(data(test.architecture, test.call, test.argument)); err != nil || got != test.want {
			t.Errorf("%s: %#x (%v), want %#x", test.what, got, err, test.want)
		}
	}
}

// TestForbidden: exactly the calls that are meant fail.
func TestForbidden(t *testing.T) {
	vm, meant := machine(t), forbidden()
	for call := range uintptr(1000) {
		want := slices.Contains(meant, call)
		got, err := vm.Run(data(architecture, uint32(call), 0))
		if err != nil || (got == unix.SECCOMP_RET_ERRNO|int(unix.EPERM)) != want {
			t.Errorf("call %d: %#x (%v), to fail: %t", call, got, err, want)
		}
	}
}

// machine runs the filter.
func machine(t *testing.T) *bpf.VM {
	t.Helper()
	var raw []bpf.RawInstruction
	for _, i := range Default() {
		raw = append(raw, bpf.RawInstruction{Op: i.Code, Jt: i.T, Jf: i.F, K: i.K})
	}
	instructions, ok := bpf.Disassemble(raw)
	if !ok {
		t.Fatal("the filter is no program")
	}
	vm, err := bpf.NewVM(instructions)
	if err != nil {
		t.Fatal(err)
	}
	return vm
}

// data is what the kernel shows a filter of a call.
func data(architecture, call, argument uint32) []byte {
	data := make([]byte, 64) // the machine reads numbers as networks write them
	binary.BigEndian.PutUint32(data[atCall:], call)
	binary.BigEndian.PutUint32(data[atArchitecture:], architecture)
	binary.BigEndian.PutUint32(data[atFirst:], argument)
	return data
}
