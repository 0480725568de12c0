package machine_test

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/cluster/realnode/machine"
)

// oldLinux is set where the test's process is on a Linux of before 5.9, as far as it can tell.
const oldLinux = "SLIPWAY_TEST_OLD_LINUX"

// TestOldLinux: where Linux lacks what isolated pods need, that is said as what forbids them, so that plain ones can
// take their place.
func TestOldLinux(t *testing.T) {
	if os.Getenv(oldLinux) == "" {
		if os.Geteuid() != 0 {
			t.Skip("filters are root's")
		}
		start(t) // skips where something else forbids them
		again := exec.Command(os.Args[0], "-test.run=^TestOldLinux$")
		again.Env = append(os.Environ(), oldLinux+"=1")
		if out, err := again.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	forget(t, unix.SYS_CLOSE_RANGE)
	_, err := machine.Start(t.Context(), machine.Options{Program: program(), State: t.TempDir(), Log: os.Stderr})
	forbidden, ok := errors.AsType[*machine.Forbidden](err)
	if !ok || !strings.Contains(forbidden.Err.Error(), "close_range of Linux 5.11") {
		t.Fatal(err)
	}
}

// forget lets this process and what it starts get ENOSYS of a system call.
func forget(t *testing.T, call uint32) {
	t.Helper()
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}, // the call's number
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: call, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program))); errno != 0 {
		t.Fatal(errno)
	}
}
