package containerinit

import (
	"errors"
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// spawner starts the first processes of a node's containers. The node itself would be slow: a process in a new user
// namespace starts as a copy of its parent. Each page that either then writes to must be flushed on all processors that
// run the parent's threads, and the node has many pages and threads.
type spawner struct {
	requests *requests
	network  int // of the node
}

// spawn answers the node's requests on [FileSpawner] until the node hangs up.
func spawn() error {
	if err := closeOnExecFrom(firstFile); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(&[]byte("slipway-spawn\x00")[0])), 0, 0, 0); err != nil {
		return err
	}
	network, err := unix.Open("/proc/thread-self/ns/net", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("find the node's network: %w", err)
	}
	s := &spawner{requests: newRequests(wire.FileSpawner), network: network}
	return s.requests.each(s.answer)
}

func (s *spawner) answer(r wire.Request, files []int) {
	if r.Spawn == nil {
		s.requests.refuse(r, errors.New("only processes can be asked for"))
		return
	}
	pid, err := s.start(*r.Spawn, files)
	if err != nil {
		s.requests.refuse(r, err)
		return
	}
	s.requests.send(wire.Reply{ID: r.ID, PID: pid})
}

// start starts a process in the pod's network, which it inherits from this thread.
func (s *spawner) start(p wire.Spawn, files []int) (pid int, err error) {
	if !p.Network {
		return startChild(p, files)
	}
	if len(files) == 0 {
		return 0, errors.New("the pod's network is missing")
	}
	if err := unix.Setns(files[0], unix.CLONE_NEWNET); err != nil {
		return 0, fmt.Errorf("enter the pod's network: %w", err)
	}
	defer func() {
		if err := unix.Setns(s.network, unix.CLONE_NEWNET); err != nil {
			panic(fmt.Sprintf("leave a pod's network: %v", err)) // all later containers would start in it
		}
	}()
	return startChild(p, files[1:])
}

// startChild starts the process with its inherited files. It inserts this program as [FileProgram].
func startChild(p wire.Spawn, files []int) (pid int, err error) {
	how := &syscall.ProcAttr{Dir: "/", Env: []string{"GOMAXPROCS=1"}, Sys: attributes(p)}
	for i, fd := range files {
		if i == wire.FileProgram {
			how.Files = append(how.Files, wire.FileProgram)
		}
		how.Files = append(how.Files, uintptr(fd))
	}
	pid, _, err = syscall.StartProcess(wire.PathProgram, []string{"slipway-container", wire.PartContainer}, how)
	return pid, err
}

// namespaces are the container's own namespaces. The network namespace is the pod's.
const namespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC

// idRange is the number of ids in a node's user namespace.
const idRange = 1 << 16

// attributes make the process a child of the node (CLONE_PARENT). It ends with the node's thread that started this
// process, and the node waits for it.
func attributes(p wire.Spawn) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{
		Cloneflags: namespaces | unix.CLONE_PARENT, Pdeathsig: syscall.SIGKILL, Setsid: true, GidMappingsEnableSetgroups: p.IDs,
	}
	if p.IDs {
		// Two entries: an ordinary user's node gets root's id and the others from two host ranges, and an entry must
		// not span both.
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: 1}, {ContainerID: 1, HostID: 1, Size: idRange - 1}}
		a.GidMappings = a.UidMappings
		return a
	}
	// The container sees the node's one id as the id that it asks for. If that is not 0, only ambient capabilities
	// survive exec.
	a.UidMappings = []syscall.SysProcIDMap{{ContainerID: p.UID, HostID: 0, Size: 1}}
	a.GidMappings = []syscall.SysProcIDMap{{ContainerID: p.GID, HostID: 0, Size: 1}}
	for c := uintptr(0); c <= unix.CAP_LAST_CAP; c++ {
		a.AmbientCaps = append(a.AmbientCaps, c)
	}
	return a
}
