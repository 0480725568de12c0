package containerinit

import (
	"errors"
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// spawner starts the first processes of a node's containers. The node itself could, but is large and has many threads:
// a process that is to be in a new user namespace begins as a copy of the one that starts it, and each page that the
// two share, and one then writes to, is taken from all processors that a thread of it runs on.
type spawner struct {
	requests *requests
	network  int // the node's network namespace
}

// spawn starts what the other side of [FileSpawner] asks for until that hangs up.
func spawn() error {
	if err := handOnBelow(firstFile); err != nil {
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

// start starts a process in the pod's network, which it inherits from the thread.
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
			panic(fmt.Sprintf("leave a pod's network: %v", err)) // all later containers would be in it
		}
	}()
	return startChild(p, files[1:])
}

// startChild starts the process with the files that it is to inherit, among which this program comes fourth.
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

// namespaces are those that a container has of its own, besides its pod's network.
const namespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC

// idRange is the number of ids in a node's user namespace.
const idRange = 1 << 16

// attributes make the process the node's child, as this one is: it ends with the node's thread that started this one,
// and the node waits for it.
func attributes(p wire.Spawn) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{
		Cloneflags: namespaces | unix.CLONE_PARENT, Pdeathsig: syscall.SIGKILL, Setsid: true, GidMappingsEnableSetgroups: p.IDs,
	}
	if p.IDs {
		// Root's id and the others apart: those of an ordinary user's node are from two places, over which a range may
		// not reach.
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: 1}, {ContainerID: 1, HostID: 1, Size: idRange - 1}}
		a.GidMappings = a.UidMappings
		return a
	}
	// There is one id, which the container sees as the one that it is to have. Where that is not root's, rights have to
	// be handed on.
	a.UidMappings = []syscall.SysProcIDMap{{ContainerID: p.UID, HostID: 0, Size: 1}}
	a.GidMappings = []syscall.SysProcIDMap{{ContainerID: p.GID, HostID: 0, Size: 1}}
	for c := uintptr(0); c <= unix.CAP_LAST_CAP; c++ {
		a.AmbientCaps = append(a.AmbientCaps, c)
	}
	return a
}
