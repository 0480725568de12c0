package protocol

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
)

// maxLine bounds a line of the program's, against one that never ends.
const maxLine = 1 << 20

// Conn is a connection to a running program. One goroutine at a time may use it.
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

// Send makes a request and returns its id, which the reply will carry.
func (c *Conn) Send(method string) (int64, error) {
	c.lastID++
	line, err := json.Marshal(struct {
		ID     int64  `json:"id"`
		Method string `json:"method"`
	}{c.lastID, method})
	if err != nil {
		return 0, err
	}
	_, err = c.w.Write(append(line, '\n'))
	return c.lastID, err
}

// ErrRefused is returned for a request to which the program replied with an error.
var ErrRefused = errors.New("the cluster refused the request")

// Call makes a request, decodes its result into result unless that is nil, and
// hands every event that comes before the reply to seen.
func (c *Conn) Call(method string, result any, seen func(Event)) error {
	id, err := c.Send(method)
	if err != nil {
		return err
	}
	for {
		e, err := c.Read()
		switch {
		case err != nil:
			return err
		case e.Name != Reply || e.ID != id:
			seen(e)
		case e.Error != "":
			return fmt.Errorf("%w: %s: %s", ErrRefused, method, e.Error)
		case result == nil:
			return nil
		default:
			return json.Unmarshal(e.Result, result)
		}
	}
}
