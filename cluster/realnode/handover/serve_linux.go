package handover

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/cluster/realnode/inside"
	"github.com/slipway-dev/slipway/cluster/registry/peer"
)

// dialLimit bounds one connection's way.
const dialLimit = 30 * time.Second

// Groups limits containers and measures them.
type Groups interface {
	Answer(inside.Group) (inside.Usage, []*os.File, error)
}

// Serve makes connections of this process's network, on behalf of the node, for the other side of conn, and does what it asks of groups, which may be nil, until that
// hangs up or ctx ends. Then conn is closed.
func Serve(ctx context.Context, conn int, groups Groups) {
	ctx, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	defer func() {
		cancel()
		group.Wait()
		_ = unix.Close(conn)
	}()
	stop := context.AfterFunc(ctx, func() { _ = unix.Shutdown(conn, unix.SHUT_RDWR) })
	defer stop()
	var turn sync.Mutex
	for {
		var r inside.Request
		files, err := receive(conn, &r)
		if err != nil {
			return
		}
		for _, fd := range files {
			_ = unix.Close(fd)
		}
		group.Go(func() {
			reply, files := answered(ctx, r, groups)
			turn.Lock()
			defer turn.Unlock()
			_ = sendFiles(conn, reply, files) // the next request tells of a failure
		})
	}
}

// answered is the reply to a request, with the files that go with it.
func answered(ctx context.Context, r inside.Request, groups Groups) (inside.Reply, []*os.File) {
	reply := inside.Reply{ID: r.ID}
	var files []*os.File
	var err error
	switch {
	case r.Group == nil:
		var f *os.File
		if f, err = dial(ctx, r); err == nil {
			files = []*os.File{f}
		}
	case groups == nil:
		err = errors.New("nothing can be limited or measured here")
	default:
		var usage inside.Usage
		usage, files, err = groups.Answer(*r.Group)
		reply.Usage = &usage
	}
	if err != nil {
		reply.Error, reply.Errno = err.Error(), errnoOf(err)
	}
	return reply, files
}

// sendFiles sends open files, which are closed here.
func sendFiles(conn int, reply inside.Reply, files []*os.File) error {
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

func dial(ctx context.Context, r inside.Request) (*os.File, error) {
	if r.Socket == nil || r.Socket.Listen {
		return nil, errors.New("only connections can be asked for")
	}
	conn, err := (&net.Dialer{Timeout: dialLimit, Control: peer.OnBehalf}).DialContext(ctx, r.Socket.Network, r.Socket.Address)
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
	fd, err := c.Ask(ctx, inside.Request{Socket: &inside.Socket{Network: network, Address: address}})
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: network, Err: fmt.Errorf("%s: %w", address, err)}
	}
	return Connected(ctx, fd)
}
