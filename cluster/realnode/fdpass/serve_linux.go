package fdpass

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// Groups limits containers and measures them.
type Groups interface {
	Answer(wire.Group) (wire.Usage, []*os.File, error)
}

// Host is what a node can ask of it.
type Host struct {
	Groups Groups // nil where there are none
	Ways   Ways
}

const (
	// maxAsked is how much a node can ask for at a time; then nothing more is read.
	maxAsked = 512
	// maxDials is how many of it may be connections, which take longest.
	maxDials = 256
)

// Serve makes connections of this process's network, on behalf of the node, for the other side of conn, and does what
// it asks of groups, until that hangs up or ctx ends. Then conn is closed. The other side may be in the hands of what
// it was to keep in: it gets what host says, and no more at a time than a node needs.
func Serve(ctx context.Context, conn int, host Host) {
	ctx, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	defer func() {
		cancel()
		group.Wait()
		_ = unix.Close(conn)
	}()
	shut := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(shut)
		_ = unix.Shutdown(conn, unix.SHUT_RDWR)
	})
	defer func() {
		if !stop() {
			<-shut // before the number is another file's
		}
	}()
	h := handed{make(chan net.Conn), ctx.Done()}
	group.Go(func() { h.serve(ctx, host.Ways.registries()) })
	var turn sync.Mutex
	asked, dials := make(chan struct{}, maxAsked), make(chan struct{}, maxDials)
	for {
		var r wire.Request
		files, err := receive(conn, &r)
		for _, fd := range files {
			_ = unix.Close(fd)
		}
		if err != nil {
			return
		}
		asked <- struct{}{}
		group.Go(func() {
			defer func() { <-asked }()
			reply, files := host.answer(ctx, r, dials, h)
			turn.Lock()
			defer turn.Unlock()
			_ = sendFiles(conn, reply, files) // the next request tells of a failure
		})
	}
}

// answer is the reply to a request, with the files that go with it.
func (h Host) answer(ctx context.Context, r wire.Request, dials chan struct{}, registries handed) (wire.Reply, []*os.File) {
	reply := wire.Reply{ID: r.ID}
	var files []*os.File
	var err error
	switch {
	case r.Group == nil:
		var f *os.File
		if f, err = h.dial(ctx, r, dials, registries); err == nil {
			files = []*os.File{f}
		}
	case h.Groups == nil:
		err = errors.New("limits and measurements are not supported here")
	default:
		var usage wire.Usage
		usage, files, err = h.Groups.Answer(*r.Group)
		reply.Usage = &usage
	}
	if err != nil {
		reply.Error, reply.Errno = err.Error(), errnoOf(err)
	}
	return reply, files
}

// sendFiles sends open files, which are closed here.
func sendFiles(conn int, reply wire.Reply, files []*os.File) error {
	var fds []int
	for _, f := range files {
		defer f.Close()
		fds = append(fds, int(f.Fd()))
	}
	return send(conn, reply, fds...)
}

func errnoOf(err error) int {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return int(errno)
	}
	return 0
}

func (h Host) dial(ctx context.Context, r wire.Request, dials chan struct{}, registries handed) (*os.File, error) {
	if r.Socket == nil || r.Socket.Listen {
		return nil, errors.New("requests can only ask for connections")
	}
	select {
	case dials <- struct{}{}:
		defer func() { <-dials }()
	default:
		return nil, fmt.Errorf("%d connections are already being handed over", maxDials)
	}
	if r.Socket.Network == wire.Registries {
		return registries.connect(ctx)
	}
	conn, err := h.Ways.dial(ctx, r.Socket.Network, r.Socket.Address)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	file, ok := conn.(interface{ File() (*os.File, error) })
	if !ok {
		return nil, fmt.Errorf("%s has no connections that can be handed over", r.Socket.Network)
	}
	return file.File()
}

// DialContext has the other side connect, which [Serve] answers.
func (c *Client) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	fd, err := c.Ask(ctx, wire.Request{Socket: &wire.Socket{Network: network, Address: address}})
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: network, Err: fmt.Errorf("%s: %w", address, err)}
	}
	return Connected(ctx, fd)
}

// connect hands one end of a connection over, and returns the other.
func (h handed) connect(ctx context.Context) (*os.File, error) {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	ours, theirs := os.NewFile(uintptr(ends[0]), wire.Registries), os.NewFile(uintptr(ends[1]), wire.Registries)
	defer ours.Close() // FileConn makes a copy
	conn, err := net.FileConn(ours)
	if err != nil {
		return nil, errors.Join(err, theirs.Close())
	}
	select {
	case h.conns <- conn:
		return theirs, nil
	case <-ctx.Done():
		return nil, errors.Join(context.Cause(ctx), conn.Close(), theirs.Close())
	}
}
