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

// Modes of the files and folders that a container gets.
const (
	folderMode = 0o755
	fileMode   = 0o644
)

// statusSignalled plus a signal's number is the status of a process that the signal ended, as in shells and runtimes.
const statusSignalled = 128

// Groups limit and measure containers, which they know by ID.
type Groups interface {
	// Make sets the limits of a container before its start. Processes join by the returned files, which they inherit.
	Make(ctx context.Context, container string, l wire.Limits) ([]*os.File, error)
	Update(ctx context.Context, container string, l wire.Limits) error
	Measure(ctx context.Context, container string) (wire.Usage, error)
	// Remove removes an ended container's limits, and returns what the container has used.
	Remove(ctx context.Context, container string) (wire.Usage, error)
}

// Options configure a [Starter].
type Options struct {
	Inside *os.File           // the file slipway-container
	IDs    bool               // the node has many user ids, not one
	Filter []wire.Instruction // for pods with the profile RuntimeDefault
	Groups Groups             // nil if limits are unavailable
}

// Starter runs containers in their own namespaces, on an overlay of the image's files.
type Starter struct {
	options Options
	thread  starterThread
	spawner *spawner
}

var _ cri.Starter = (*Starter)(nil)

// New returns a Starter. It starts the process that starts containers.
func New(o Options) (*Starter, error) {
	t := newThread()
	i := &Starter{o, t, &spawner{program: o.Inside, thread: t}}
	_, err := i.spawner.ready()
	return i, err
}

// prepared is a container that can be started.
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
	first   *os.File // a pidfd: the pid may become another process's
	streams cri.Streams
	ended   chan struct{} // closed when the process has been waited for

	groups      []*os.File // by which processes join the container's cgroups
	outOfMemory bool       // valid after the container's end
}

// Start starts the container, and returns when its program runs or failed to start. It tries again once if the spawner
// was killed.
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

// spawn starts the process, and opens a pidfd before the process can be waited for.
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
	c.process, _ = os.FindProcess(c.child.pid) // always succeeds on Unix
	fd, err := unix.PidfdOpen(c.child.pid, 0)
	if err != nil {
		c.Signal(syscall.SIGKILL)
		c.wait()
		return os.NewSyscallError("pidfd_open", err)
	}
	c.first = os.NewFile(uintptr(fd), "first process")
	return nil
}

// namespaceOf returns nil for the node's own network.
func namespaceOf(pod *podnet.Pod) *os.File {
	if pod == nil {
		return nil
	}
	return pod.Namespace
}

// begin sends the description to the process, and waits until the process has become the container's program.
func (c *isolated) begin(f *files) error {
	go func() {
		_ = json.NewEncoder(f.description[1]).Encode(c.spec) // a process that does not read it reports the reason
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

// useStreams keeps the pipes' ends for the container's streams.
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

// Streams returns the runtime's ends of the process's streams.
func (c *isolated) Streams() cri.Streams { return c.streams }

// Wait waits for the process and returns its exit status. All other processes of the container end with it.
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
		panic(fmt.Sprintf("wait for a container's first process: %v", err)) // this process's child, which nothing else waits for
	}
	return state.Sys().(syscall.WaitStatus)
}

// Dial connects to a port on the pod's loopback. A socket belongs to the network in which it was made, so it can be
// connected from here.
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
