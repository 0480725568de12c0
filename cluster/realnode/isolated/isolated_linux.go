package isolated

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/cluster/realnode/cri"
	"github.com/slipway-dev/slipway/cluster/realnode/fdpass"
	"github.com/slipway-dev/slipway/cluster/realnode/podnet"
	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// Modes of what a container finds.
const (
	folderMode = 0o755
	fileMode   = 0o644
)

// statusSignalled is added to the number of the signal that ended a process, as shells and runtimes do.
const statusSignalled = 128

// Groups limit and measure containers, by their IDs.
type Groups interface {
	// Make limits a container that is to be started. Its processes come under the limits by what they inherit.
	Make(ctx context.Context, container string, l wire.Limits) ([]*os.File, error)
	Update(ctx context.Context, container string, l wire.Limits) error
	Measure(ctx context.Context, container string) (wire.Usage, error)
	// Remove says what a container has used that has ended.
	Remove(ctx context.Context, container string) (wire.Usage, error)
}

// Options say how containers are isolated.
type Options struct {
	Inside *os.File           // slipway-container
	IDs    bool               // many user ids are there, not one
	Filter []wire.Instruction // of the system calls of pods with the runtime's default profile
	Groups Groups             // nil where there are no limits
}

// Starter runs containers in namespaces of their own, over a file system laid over the image's.
type Starter struct {
	options Options
	thread  thread
	spawner *spawner
}

var _ cri.Starter = (*Starter)(nil)

// New returns a starter that isolates containers.
func New(o Options) (*Starter, error) {
	t := newThread()
	i := &Starter{o, t, &spawner{program: o.Inside, thread: t}}
	_, err := i.spawner.ready()
	return i, err
}

// prepared is a container that is described.
type prepared struct {
	*Starter
	container cri.Container
	spec      wire.Container
}

// isolated is a container's first process.
type isolated struct {
	*prepared
	child   *child
	process *os.Process
	first   *os.File // stands for the process, whatever becomes of its number
	streams cri.Streams
	ended   chan struct{} // closed once it has been waited for

	groups      []*os.File // by which processes come under the container's limits
	outOfMemory bool       // known once it has ended
}

// Start starts the container and returns once its program runs, or why it does not.
func (p *prepared) Start() (cri.Process, error) {
	c, err := p.start()
	if errors.Is(err, fdpass.ErrGone) {
		c, err = p.start()
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

func (p *prepared) start() (*isolated, error) {
	files, err := newFiles(p.container.Config.GetTty(), p.container.Config.GetStdin())
	if err != nil {
		return nil, err
	}
	defer files.closeTheirs()
	c := &isolated{prepared: p, ended: make(chan struct{})}
	if err := c.limit(); err != nil {
		files.closeOurs()
		return nil, err
	}
	if err := c.spawn(files); err != nil {
		files.closeOurs()
		c.unlimit()
		return nil, fmt.Errorf("start the container: %w", err)
	}
	files.closeTheirs()
	if err := c.begin(files); err != nil {
		c.Signal(syscall.SIGKILL)
		files.closeOurs()
		c.Wait()
		closeFiles(c.first, c.streams.Terminal)
		return nil, err
	}
	return c, nil
}

// spawn starts the process, and takes hold of it before anybody can have waited for its end.
func (c *isolated) spawn(f *files) (err error) {
	inherited := append(f.inherited(), c.groups...)
	network := namespaceOf(c.container.Network)
	if network != nil {
		inherited = append([]*os.File{network}, inherited...)
	}
	what := wire.Spawn{Network: network != nil, IDs: c.options.IDs, UID: c.spec.UID, GID: c.spec.GID}
	if c.child, err = c.spawner.start(what, inherited); err != nil {
		return err
	}
	c.process, _ = os.FindProcess(c.child.pid) // which always finds one
	fd, err := unix.PidfdOpen(c.child.pid, 0)
	if err != nil {
		c.Signal(syscall.SIGKILL)
		c.wait()
		return os.NewSyscallError("pidfd_open", err)
	}
	c.first = os.NewFile(uintptr(fd), "first process")
	return nil
}

// namespaceOf is nil for the node's own network.
func namespaceOf(pod *podnet.Pod) *os.File {
	if pod == nil {
		return nil
	}
	return pod.Namespace
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
func (c *isolated) Streams() cri.Streams { return c.streams }

// Wait returns how the process ended: all of the container ends with it.
func (c *isolated) Wait() int {
	status := c.wait()
	c.unlimit()
	if status.Signaled() {
		return statusSignalled + int(status.Signal())
	}
	return status.ExitStatus()
}

func (c *isolated) wait() syscall.WaitStatus {
	defer close(c.ended)
	defer c.thread.children.ended(c.child)
	state, err := c.process.Wait()
	if err != nil {
		panic(fmt.Sprintf("wait for a container's first process: %v", err)) // a child of this process, for which nobody else waits
	}
	return state.Sys().(syscall.WaitStatus)
}

// Dial connects to a port of a pod on the pod's own loopback: the socket is made there, and connected from here.
func (i *Starter) Dial(ctx context.Context, pod *podnet.Pod, port int) (net.Conn, error) {
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
	return fdpass.Connected(ctx, fd)
}
