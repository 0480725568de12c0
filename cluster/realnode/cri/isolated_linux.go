package cri

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/cluster/realnode/handover"
	"github.com/slipway-dev/slipway/cluster/realnode/inside"
	"github.com/slipway-dev/slipway/cluster/realnode/podnet"
)

// IsolatedOptions say how containers are isolated.
type IsolatedOptions struct {
	Inside *os.File             // slipway-container
	IDs    bool                 // many user ids are there, not one
	Filter []inside.Instruction // of the system calls of pods with the runtime's default profile
	Groups Groups               // nil where there are no limits
}

// Isolated runs containers in namespaces of their own, over a file system laid over the image's.
type Isolated struct {
	options IsolatedOptions
	thread  thread
}

var _ Starter = (*Isolated)(nil)

// NewIsolated returns a starter that isolates containers.
func NewIsolated(o IsolatedOptions) *Isolated { return &Isolated{o, newThread()} }

// prepared is a container that is described.
type prepared struct {
	*Isolated
	container Container
	spec      inside.Container
}

// isolated is a container's first process.
type isolated struct {
	*prepared
	cmd     *exec.Cmd
	first   *os.File // stands for the process, whatever becomes of its number
	streams Streams

	groups      []*os.File // by which processes come under the container's limits
	outOfMemory bool       // known once it has ended
}

// namespaces are those that a container has of its own.
const namespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC

// idRange is the number of ids in a node's user namespace.
const idRange = 1 << 16

// Start starts the container and returns once its program runs, or why it does not.
func (p *prepared) Start() (Process, error) {
	files, err := newFiles(p.container.Config.GetTty(), p.container.Config.GetStdin())
	if err != nil {
		return nil, err
	}
	defer files.closeTheirs()
	c := &isolated{prepared: p, cmd: p.command(files)}
	if err := c.limit(); err != nil {
		files.closeOurs()
		return nil, err
	}
	c.cmd.ExtraFiles = append(c.cmd.ExtraFiles, c.groups...)
	pidFD := -1
	c.cmd.SysProcAttr.PidFD = &pidFD
	if err := p.thread.start(c.cmd, namespaceOf(p.container.Network)); err != nil {
		files.closeOurs()
		c.unlimit()
		return nil, fmt.Errorf("start the container: %w", err)
	}
	files.closeTheirs()
	c.first = os.NewFile(uintptr(pidFD), "first process")
	if err := c.begin(files); err != nil {
		c.Signal(syscall.SIGKILL)
		_ = c.thread.wait(c.cmd)
		_ = c.first.Close()
		files.closeOurs()
		c.unlimit()
		return nil, err
	}
	return c, nil
}

// namespaceOf is nil for the node's own network.
func namespaceOf(pod *podnet.Pod) *os.File {
	if pod == nil {
		return nil
	}
	return pod.Namespace
}

func (p *prepared) command(f *files) *exec.Cmd {
	cmd := exec.Command(inside.PathProgram)
	cmd.Args = []string{"slipway-container", inside.PartContainer}
	cmd.Env = []string{"GOMAXPROCS=1"}
	cmd.Dir = "/"
	cmd.ExtraFiles = append([]*os.File{p.options.Inside}, f.extra()...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = f.stdin[0], f.stdout[1], f.stderr[1]
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: namespaces, Pdeathsig: syscall.SIGKILL, Setsid: true, GidMappingsEnableSetgroups: p.options.IDs,
	}
	a := cmd.SysProcAttr
	if p.options.IDs {
		// Root's id and the others apart: those of an ordinary user's node are from two places, over which a range may not reach.
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: 1}, {ContainerID: 1, HostID: 1, Size: idRange - 1}}
		a.GidMappings = a.UidMappings
		return cmd
	}
	// There is one id, which the container sees as the one that it is to have. Where that is not root's, rights have to be handed on.
	a.UidMappings = []syscall.SysProcIDMap{{ContainerID: p.spec.UID, HostID: 0, Size: 1}}
	a.GidMappings = []syscall.SysProcIDMap{{ContainerID: p.spec.GID, HostID: 0, Size: 1}}
	for c := uintptr(0); c <= unix.CAP_LAST_CAP; c++ {
		a.AmbientCaps = append(a.AmbientCaps, c)
	}
	return cmd
}

// begin describes the container to the process and waits until it has become the container's program.
func (c *isolated) begin(f *files) error {
	go func() {
		_ = json.NewEncoder(f.description[1]).Encode(c.spec) // if it does not read, it says why
		_ = f.description[1].Close()
	}()
	if f.terminal[0] != nil {
		terminal, err := receiveTerminal(f.terminal[0])
		if err == nil {
			c.streams.Terminal = terminal
		}
	}
	failure, err := io.ReadAll(f.status[0])
	_ = f.status[0].Close()
	switch {
	case err != nil:
		return fmt.Errorf("start the container: %w", err)
	case len(failure) > 0:
		return errors.New(string(failure))
	}
	c.useStreams(f)
	return nil
}

// useStreams keeps the ends that are needed.
func (c *isolated) useStreams(f *files) {
	if c.streams.Terminal != nil {
		_, _ = f.stdout[0].Close(), f.stderr[0].Close()
		return
	}
	c.streams.Stdout, c.streams.Stderr = f.stdout[0], f.stderr[0]
	if f.stdin[1] != nil {
		c.streams.Stdin = f.stdin[1]
	}
}

// Streams are the other ends of the process's.
func (c *isolated) Streams() Streams { return c.streams }

// Wait returns how the process ended: all of the container ends with it.
func (c *isolated) Wait() int {
	_ = c.thread.wait(c.cmd)
	c.unlimit()
	status := c.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return statusNotStarted + int(status.Signal())
	}
	return status.ExitStatus()
}

// Signal sends the process a signal.
func (c *isolated) Signal(s syscall.Signal) {
	_ = c.cmd.Process.Signal(s) // it may just have ended
}

// Dial connects to a port of a pod on the pod's own loopback: the socket is made there, and connected from here.
func (i *Isolated) Dial(ctx context.Context, pod *podnet.Pod, port int) (net.Conn, error) {
	fd := -1
	err := i.thread.within(namespaceOf(pod), func() (err error) {
		fd, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := unix.Connect(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}, Port: port}); err != nil && !errors.Is(err, unix.EINPROGRESS) {
		_ = unix.Close(fd)
		return nil, err
	}
	return handover.Connected(ctx, fd)
}
