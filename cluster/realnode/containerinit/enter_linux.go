package containerinit

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// containerNamespaces are the namespaces that a container's processes share.
const containerNamespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWNET

// enter starts a process in the container of [FileFirst], and waits for its end.
//
// A process with several threads, as every Go program is, cannot enter a user namespace (setns(2)). So this one forks
// without the Go runtime. The child has one thread and enters. Its own child is the first in the container's pid
// namespace, and executes this program again, in the part entered, with the same files.
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

// entry holds all memory that the forked process needs, because that process cannot allocate.
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

// fork starts the child. In the child only nosplit functions with raw system calls may run, because the runtime's other
// threads do not exist there. Signals are blocked, so that no handler runs.
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

// inChild enters the container, forks and waits. It never returns.
//
//go:norace
//go:nosplit
func (e *entry) inChild() {
	unix.RawSyscall6(unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0, 0)
	if _, _, errno := unix.RawSyscall(unix.SYS_SETNS, e.first, containerNamespaces|unix.CLONE_NEWCGROUP, 0); errno != 0 {
		// A container without a cgroup namespace of its own has the host's, which this process may not enter and need
		// not.
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
	// Inherited files, such as ends of pipes, must close when the process in the container closes them.
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

// inGrandchild becomes the part entered, with all rights in the container's user namespace even if its id there is not
// root's.
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

// entered runs in the container and becomes the described process.
func entered() error {
	var p processSpec
	if err := closeOnExecFrom(firstFile); err != nil {
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
