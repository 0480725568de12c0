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

// Groups answers requests about containers' cgroups.
type Groups interface {
	Answer(wire.Group) (wire.Usage, []*os.File, error)
}

// Host is what a node can use of the host.
type Host struct {
	Groups Groups // nil if limits are unavailable
	Ways   Ways
}

const (
	// maxAsked bounds a node's requests under way. Above it nothing more is read.
	maxAsked = 512
	// maxDials bounds the connection attempts among them, which take longest.
	maxDials = 256
)

// Serve answers a node's requests for connections and cgroups on conn, until the node hangs up or ctx ends. Then it
// closes conn. It does not trust the node, which a container may have taken over: host decides what the node gets, and
// requests have limits.
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
			<-shut // until then conn must not be closed: another file could get its number
		}
	}()
	h := connListener{make(chan net.Conn), ctx.Done()}
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
			_ = sendFiles(conn, reply, files) // if this fails, the next receive fails too
		})
	}
}

// answer returns the reply to a request, with the files to send along.
func (h Host) answer(ctx context.Context, r wire.Request, dials chan struct{}, registries connListener) (wire.Reply, []*os.File) {
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

// sendFiles sends a reply with open files, and closes them.
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

func (h Host) dial(ctx context.Context, r wire.Request, dials chan struct{}, registries connListener) (*os.File, error) {
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

// DialContext makes the other side connect. [Serve] answers it there.
func (c *Client) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	fd, err := c.Ask(ctx, wire.Request{Socket: &wire.Socket{Network: network, Address: address}})
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: network, Err: fmt.Errorf("%s: %w", address, err)}
	}
	return Connected(ctx, fd)
}

// connect passes one end of a new connection to the listener, and returns the other.
func (h connListener) connect(ctx context.Context) (*os.File, error) {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	ours, theirs := os.NewFile(uintptr(ends[0]), wire.Registries), os.NewFile(uintptr(ends[1]), wire.Registries)
	defer ours.Close() // FileConn duplicates it
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
