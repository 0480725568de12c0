package fdpass

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// ErrGone means that the other side has ended.
var ErrGone = errors.New("the other side has ended")

const (
	// maxMessage exceeds the size of any message, in bytes.
	maxMessage = 64 << 10
	// maxFiles exceeds the number of files with any message.
	maxFiles = 8
)

// Client sends requests and matches them with replies. Methods may be called concurrently.
type Client struct {
	news func(wire.Reply)
	gone chan struct{} // closed when no more replies come

	mu      sync.Mutex
	conn    int // -1 after Close
	last    uint64
	waiting map[uint64]chan answer
}

// answer is a reply with the files that came with it.
type answer struct {
	wire.Reply
	files []int
}

// NewClient returns a client that uses the socket conn and closes it in [Client.Close]. news receives the messages that
// the other side sends without a request. It may be nil.
func NewClient(conn int, news func(wire.Reply)) *Client {
	c := &Client{conn: conn, news: news, waiting: map[uint64]chan answer{}, gone: make(chan struct{})}
	go c.receive(conn)
	return c
}

// Close shuts the connection down, and returns when nothing more is received.
func (c *Client) Close() {
	c.mu.Lock()
	conn := c.conn
	c.conn = -1
	if conn >= 0 {
		_ = unix.Shutdown(conn, unix.SHUT_RDWR)
	}
	c.mu.Unlock()
	<-c.gone
	if conn >= 0 {
		_ = unix.Close(conn)
	}
}

// Ask sends a request. It returns the reply's file, which the caller must close, or -1 if there is none.
func (c *Client) Ask(ctx context.Context, r wire.Request, files ...int) (int, error) {
	a, err := c.ask(ctx, r, files)
	if err != nil || len(a.files) == 0 {
		return -1, err
	}
	return a.files[0], nil
}

// Spawn makes the spawner start a process, and returns its pid. The process becomes a child of the spawner's parent.
func (c *Client) Spawn(ctx context.Context, s wire.Spawn, files ...int) (pid int, err error) {
	a, err := c.ask(ctx, wire.Request{Spawn: &s}, files)
	a.drop()
	if a.Error != "" {
		return 0, errors.New(a.Error) // the text is for users
	}
	return a.PID, err
}

// ask returns the reply. The caller must close its files.
func (c *Client) ask(ctx context.Context, r wire.Request, files []int) (answer, error) {
	reply := make(chan answer, 1)
	c.mu.Lock()
	c.last++
	r.ID = c.last
	c.waiting[r.ID] = reply
	err := c.send(r, files)
	c.mu.Unlock()
	if err != nil {
		c.abandon(r.ID, reply)
		return answer{}, err
	}
	select {
	case a := <-reply:
		return a, a.err()
	case <-c.gone:
		select {
		case a := <-reply: // a last reply before the end
			return a, a.err()
		default:
		}
		c.abandon(r.ID, reply)
		return answer{}, ErrGone
	case <-ctx.Done():
		c.abandon(r.ID, reply)
		return answer{}, context.Cause(ctx)
	}
}

// abandon gives up a reply that may still come, and closes its files.
func (c *Client) abandon(id uint64, reply chan answer) {
	c.mu.Lock()
	delete(c.waiting, id)
	c.mu.Unlock()
	select {
	case a := <-reply:
		a.drop()
	default:
	}
}

func (a answer) drop() {
	for _, fd := range a.files {
		_ = unix.Close(fd)
	}
}

// MissingError means that the other side's kernel lacks a module, or an option of its build, that a request needs.
type MissingError struct {
	Part string
	Err  error // the kernel's error
}

func (e *MissingError) Error() string { return fmt.Sprintf("the kernel has no %s: %v", e.Part, e.Err) }

func (e *MissingError) Unwrap() error { return e.Err }

func (a answer) err() error {
	switch {
	case a.Missing != "":
		return &MissingError{a.Missing, syscall.Errno(a.Errno)}
	case a.Errno != 0:
		return syscall.Errno(a.Errno)
	case a.Error != "":
		return errors.New(a.Error)
	}
	return nil
}

// send requires c.mu.
func (c *Client) send(r wire.Request, files []int) error {
	if c.conn < 0 {
		return ErrGone
	}
	if err := send(c.conn, r, files...); err != nil {
		return fmt.Errorf("%w: %w", ErrGone, err)
	}
	return nil
}

func send(conn int, message any, files ...int) error {
	text, err := json.Marshal(message)
	if err != nil {
		return err
	}
	var control []byte
	if len(files) > 0 {
		control = unix.UnixRights(files...)
	}
	return unix.Sendmsg(conn, text, control, nil, unix.MSG_NOSIGNAL)
}

// receive passes replies to their requests until the connection ends.
func (c *Client) receive(conn int) {
	defer close(c.gone)
	for {
		var a answer
		files, err := receive(conn, &a.Reply)
		if err != nil {
			return
		}
		a.files = files
		c.hand(a)
	}
}

// receive reads one message with its files.
func receive(conn int, message any) (files []int, err error) {
	buffer, control := make([]byte, maxMessage), make([]byte, unix.CmsgSpace(4*maxFiles))
	for {
		n, rest, _, _, err := unix.Recvmsg(conn, buffer, control, unix.MSG_CMSG_CLOEXEC)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return nil, err
		case n == 0:
			return nil, ErrGone
		}
		if messages, err := unix.ParseSocketControlMessage(control[:rest]); err == nil && len(messages) > 0 {
			files, _ = unix.ParseUnixRights(&messages[0]) // a reply without its file is an error for the caller
		}
		return files, json.Unmarshal(buffer[:n], message)
	}
}

func (c *Client) hand(a answer) {
	if a.ID == 0 {
		if c.news != nil {
			c.news(a.Reply)
		}
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	to := c.waiting[a.ID]
	delete(c.waiting, a.ID)
	if to == nil {
		a.drop()
		return
	}
	to <- a
}

// Connected waits until a connecting socket is connected, and returns it as a connection. It takes over fd.
func Connected(ctx context.Context, fd int) (net.Conn, error) {
	f := os.NewFile(uintptr(fd), "socket")
	defer f.Close() // FileConn duplicates it
	raw, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = f.SetWriteDeadline(time.Unix(1, 0)) })
	defer stop()
	var failed error
	err = raw.Write(func(fd uintptr) (done bool) {
		done, failed = arrived(int(fd))
		return done
	})
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, err
	case failed != nil:
		return nil, failed
	}
	return net.FileConn(f)
}

func arrived(fd int) (bool, error) {
	code, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR)
	switch {
	case err != nil:
		return true, err
	case code != 0:
		return true, syscall.Errno(code)
	}
	_, err = unix.Getpeername(fd)
	return err == nil, nil
}
