package containerinit

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// containerNamespaces are those that a container's processes share.
const containerNamespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWNET

// enter starts a process in a container, whose first process [FileFirst] stands for, and waits for its end.
//
// A process with several threads, which a Go program always has, cannot enter a user namespace. So this one forks
// without the help of the runtime. The child, which has one thread, enters; its own child, the first to be in the
// container's pid namespace, becomes this program once more, in the part entered. The files for that stay as they are.
func enter() error {
	unix.CloseOnExec(wire.FileProgram)
	unix.CloseOnExec(wire.FileFirst)
	e := newEntry(wire.FileFirst, wire.FileProgram)
	pid, errno := e.fork()
	if errno != 0 {
		return fmt.Errorf("fork: %w", errno)
	}
	var status unix.WaitStatus
	for {
		_, err := unix.Wait4(pid, &status, 0, nil)
		if err == nil {
			break
		}
		if err != unix.EINTR {
			return fmt.Errorf("wait: %w", err)
		}
	}
	if status.Signaled() {
		return ended(statusFailed + int(status.Signal()))
	}
	return ended(status.ExitStatus())
}

// entry is all that the forked process needs; it can allocate nothing.
type entry struct {
	first, self uintptr
	argv, envv  [3]*byte
	empty       [1]byte
	header      unix.CapUserHeader
	sets        [2]unix.CapUserData
	mask        [1]uint64
	status      uint32
}

func newEntry(first, self int) *entry {
	e := &entry{first: uintptr(first), self: uintptr(self), mask: [1]uint64{^uint64(0)}}
	e.argv[0], _ = unix.BytePtrFromString("slipway-container")
	e.argv[1], _ = unix.BytePtrFromString(partEntered)
	e.envv[0], _ = unix.BytePtrFromString("GOMAXPROCS=1")
	e.header.Version = unix.LINUX_CAPABILITY_VERSION_3
	for i := range e.sets {
		e.sets[i] = unix.CapUserData{Effective: ^uint32(0), Permitted: ^uint32(0), Inheritable: ^uint32(0)}
	}
	e.sets[1] = unix.CapUserData{}
	for c := 32; c <= unix.CAP_LAST_CAP; c++ {
		bit := uint32(1) << (c - 32)
		e.sets[1].Effective, e.sets[1].Permitted, e.sets[1].Inheritable = e.sets[1].Effective|bit, e.sets[1].Permitted|bit, e.sets[1].Inheritable|bit
	}
	return e
}

// failedEntry is the status of a process that could not enter.
const failedEntry = 126

// fork starts the child. From there on no Go code may run but what is marked nosplit and makes raw system calls: the
// runtime's other threads are not there. Signals are blocked, lest one is handled meanwhile.
//
//go:norace
//go:nosplit
//go:noinline
func (e *entry) fork() (pid int, errno unix.Errno) {
	unix.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_BLOCK, uintptr(unsafe.Pointer(&e.mask)), 0, 8, 0, 0)
	child, _, errno := unix.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if errno == 0 && child == 0 {
		e.inChild()
	}
	unix.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_UNBLOCK, uintptr(unsafe.Pointer(&e.mask)), 0, 8, 0, 0)
	return int(child), errno
}

// inChild enters, forks and waits. It does not return.
//
//go:norace
//go:nosplit
func (e *entry) inChild() {
	unix.RawSyscall6(unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0, 0)
	if _, _, errno := unix.RawSyscall(unix.SYS_SETNS, e.first, containerNamespaces|unix.CLONE_NEWCGROUP, 0); errno != 0 {
		// Where the container has no view of cgroups of its own, it is the host's, which cannot be entered and need not
		// be.
		if _, _, errno := unix.RawSyscall(unix.SYS_SETNS, e.first, containerNamespaces, 0); errno != 0 {
			exit(failedEntry)
		}
	}
	child, _, errno := unix.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if errno != 0 {
		exit(failedEntry)
	}
	if child == 0 {
		e.inGrandchild()
	}
	// The other side's descriptors, such as the ends of pipes, are to be closed when the process is through.
	for fd := uintptr(0); fd < 64; fd++ {
		unix.RawSyscall(unix.SYS_CLOSE, fd, 0, 0)
	}
	for {
		_, _, errno := unix.RawSyscall6(unix.SYS_WAIT4, child, uintptr(unsafe.Pointer(&e.status)), 0, 0, 0, 0)
		if errno == 0 {
			break
		}
		if errno != unix.EINTR {
			exit(failedEntry)
		}
	}
	if signal := e.status & 0x7f; signal != 0 {
		exit(statusFailed + uintptr(signal))
	}
	exit(uintptr(e.status>>8) & 0xff)
}

// inGrandchild becomes the part entered, with all rights in the container's user namespace, also where its id there is
// not root's.
//
//go:norace
//go:nosplit
func (e *entry) inGrandchild() {
	unix.RawSyscall6(unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0, 0)
	unix.RawSyscall(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&e.header)), uintptr(unsafe.Pointer(&e.sets)), 0)
	for c := uintptr(0); c <= unix.CAP_LAST_CAP; c++ {
		unix.RawSyscall6(unix.SYS_PRCTL, unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_RAISE, c, 0, 0, 0)
	}
	unix.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_UNBLOCK, uintptr(unsafe.Pointer(&e.mask)), 0, 8, 0, 0)
	unix.RawSyscall6(unix.SYS_EXECVEAT, e.self, uintptr(unsafe.Pointer(&e.empty)), uintptr(unsafe.Pointer(&e.argv)),
		uintptr(unsafe.Pointer(&e.envv)), unix.AT_EMPTY_PATH, 0)
	exit(failedEntry)
}

//go:norace
//go:nosplit
func exit(status uintptr) {
	for {
		unix.RawSyscall(unix.SYS_EXIT_GROUP, status, 0, 0)
	}
}

// entered is in the container and becomes the process.
func entered() error {
	var p processSpec
	if err := handOnBelow(firstFile); err != nil {
		return err
	}
	if err := describe(wire.FileDescription, &p); err != nil {
		return err
	}
	if err := join(p.Cgroups); err != nil {
		return err
	}
	if _, err := unix.Setsid(); err != nil {
		return fmt.Errorf("begin a session: %w", err)
	}
	if p.Terminal {
		if err := ownTerminal(); err != nil {
			return err
		}
	}
	return p.become()
}
