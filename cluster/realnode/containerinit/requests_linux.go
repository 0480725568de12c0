package containerinit

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

const (
	// maxRequest exceeds the size of any request, in bytes.
	maxRequest = 64 << 10
	// maxFiles exceeds the number of files with any request.
	maxFiles = 16
)

// requests receives requests on a socket, and sends the replies.
type requests struct {
	conn            int
	buffer, control []byte

	mu sync.Mutex // guards sends
}

func newRequests(conn int) *requests {
	return &requests{conn: conn, buffer: make([]byte, maxRequest), control: make([]byte, unix.CmsgSpace(4*maxFiles))}
}

// errHungUp means that the other side has closed the connection.
var errHungUp = errors.New("the other side has hung up")

// errTooMuch means that a request is longer, or has more files, than any valid one.
var errTooMuch = errors.New("a request that is too long")

// each answers requests one by one until the other side hangs up. It closes the files of each request after its answer.
func (q *requests) each(answer func(wire.Request, []int)) error {
	for {
		r, files, err := q.next()
		switch {
		case errors.Is(err, errHungUp):
			return nil
		case err != nil:
			return err
		}
		answer(r, files)
		closeAll(files)
	}
}

func (q *requests) next() (r wire.Request, files []int, err error) {
	for {
		n, rest, flags, _, err := unix.Recvmsg(q.conn, q.buffer, q.control, unix.MSG_CMSG_CLOEXEC)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return r, nil, fmt.Errorf("receive a request: %w", err)
		case n == 0:
			return r, nil, errHungUp
		case flags&(unix.MSG_TRUNC|unix.MSG_CTRUNC) != 0:
			return r, nil, errTooMuch
		}
		if files, err = received(q.control[:rest]); err != nil {
			return r, nil, err
		}
		if err := json.Unmarshal(q.buffer[:n], &r); err != nil {
			return r, files, fmt.Errorf("read a request: %w", err)
		}
		return r, files, nil
	}
}

func received(control []byte) (files []int, err error) {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return nil, fmt.Errorf("receive files: %w", err)
	}
	for _, m := range messages {
		some, err := unix.ParseUnixRights(&m)
		if err != nil {
			return nil, fmt.Errorf("receive files: %w", err)
		}
		files = append(files, some...)
	}
	return files, nil
}

func closeAll(files []int) {
	for _, fd := range files {
		_ = unix.Close(fd)
	}
}

func (q *requests) refuse(r wire.Request, err error) {
	reply := wire.Reply{ID: r.ID, Error: err.Error()}
	if errno, ok := errors.AsType[unix.Errno](err); ok {
		reply.Errno = int(errno)
	}
	if m, ok := errors.AsType[*missing](err); ok {
		reply.Missing = m.part
	}
	q.send(reply)
}

// send sends a reply. If it fails, the next receive reports that.
func (q *requests) send(r wire.Reply, files ...int) {
	text, err := json.Marshal(r)
	if err != nil {
		panic(err) // a struct of strings and numbers
	}
	var control []byte
	if len(files) > 0 {
		control = unix.UnixRights(files...)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	_ = unix.Sendmsg(q.conn, text, control, nil, unix.MSG_NOSIGNAL)
}
