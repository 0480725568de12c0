package protocol

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
)

// maxLine bounds a line of the program's, against one that never ends.
const maxLine = 1 << 20

// Conn is a connection to a running program. One goroutine at a time may use it; while it reads, another one may send
// and close.
type Conn struct {
	lines  *bufio.Scanner
	w      io.Writer
	close  func() error
	lastID int64
}

// NewConn speaks over r and w; closing the connection calls closing.
func NewConn(r io.Reader, w io.Writer, closing func() error) *Conn {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	return &Conn{lines: lines, w: w, close: closing}
}

// Dial connects to the socket that a program serves.
func Dial(ctx context.Context, socket string) (*Conn, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, err
	}
	return NewConn(c, c, c.Close), nil
}

// Close ends the connection; a Read that waits returns.
func (c *Conn) Close() error { return c.close() }

// Until closes the connection when ctx is done, so that a waiting Read returns.
// The function it returns must be called; it takes that back.
func (c *Conn) Until(ctx context.Context) (release func()) {
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	return func() { stop() }
}

// Read returns the next event; [io.EOF] says that the program ended the connection.
func (c *Conn) Read() (Event, error) {
	if !c.lines.Scan() {
		if err := c.lines.Err(); err != nil {
			return Event{}, err
		}
		return Event{}, io.EOF
	}
	return ParseEvent(c.lines.Bytes())
}

// Send makes a request, with params unless they are nil, and returns its id, which the reply will carry.
func (c *Conn) Send(method string, params any) (int64, error) {
	c.lastID++
	request := Request{ID: c.lastID, Method: method}
	if params != nil {
		var err error
		if request.Params, err = json.Marshal(params); err != nil {
			return 0, err
		}
	}
	line, err := json.Marshal(request)
	if err != nil {
		return 0, err
	}
	_, err = c.w.Write(append(line, '\n'))
	return c.lastID, err
}

// A Refusal is a program's answer to a request that it does not fulfil.
type Refusal struct{ Method, Reason string }

// Error says why, in the program's words.
func (r *Refusal) Error() string { return r.Reason }

// UnknownMethod reports whether the program does not know the method: it is older. The page of the protocol has the
// words.
func (r *Refusal) UnknownMethod() bool { return r.Reason == fmt.Sprintf("unknown method %q", r.Method) }

// Call makes a request, decodes its result into result unless that is nil, and
// hands every event that comes before the reply to seen. The program's refusal is a [*Refusal].
func (c *Conn) Call(method string, params, result any, seen func(Event)) error {
	id, err := c.Send(method, params)
	if err != nil {
		return err
	}
	for {
		e, err := c.Read()
		switch {
		case err != nil:
			return err
		case !e.Answers(id):
			seen(e)
		case e.Error != "":
			return &Refusal{method, e.Error}
		case result == nil:
			return nil
		default:
			return json.Unmarshal(e.Result, result)
		}
	}
}
