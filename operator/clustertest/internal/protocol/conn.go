package protocol

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// maxLine bounds a line of the program's, against one that never ends.
const maxLine = 1 << 20

// Cluster reports how to reach a cluster that is ready.
type Cluster struct {
	Server     string
	Kubeconfig string
	Kubernetes string
}

// Conn is a connection to a program. Its methods may be called by several goroutines.
type Conn struct {
	ready   chan struct{} // closed once the cluster is ready; cluster is set by then
	cluster Cluster
	ended   chan struct{} // closed once the connection is of no use; err is set by then
	err     error
	end     sync.Once

	mu      sync.Mutex // guards the rest
	w       io.Writer
	lastID  int64
	waiting map[int64]chan Event
	follows map[string]func(Report) // by door
}

// ErrEnded is why a request has no answer: the program, or its connection, ended.
var ErrEnded = errors.New("the cluster program ended")

// ErrRefused is returned for a request that the program answered with an error.
var ErrRefused = errors.New("the cluster refused")

// Mismatch is returned when the program speaks another protocol.
type Mismatch struct{ Program, Version int }

// Error names both numbers.
func (m *Mismatch) Error() string {
	return fmt.Sprintf("the program uses protocol %d, this library uses protocol %d", m.Program, m.Version)
}

// Failed is returned when the program says that the cluster cannot run.
type Failed struct{ Component, Reason, Hint string }

// Error names the component and its reason.
func (f *Failed) Error() string { return f.Component + ": " + f.Reason }

// NewConn speaks over r and w. It reads r until its end, in a goroutine that ends with r.
func NewConn(r io.Reader, w io.Writer) *Conn {
	c := &Conn{w: w, ready: make(chan struct{}), ended: make(chan struct{}), waiting: map[int64]chan Event{}, follows: map[string]func(Report){}}
	go c.read(r)
	return c
}

// Ready waits until the cluster is ready.
func (c *Conn) Ready(ctx context.Context) (Cluster, error) {
	select {
	case <-c.ready:
		return c.cluster, nil
	case <-c.ended:
		return Cluster{}, c.err
	case <-ctx.Done():
		return Cluster{}, ctx.Err()
	}
}

// Ended is closed once the connection is of no use: the program ended, failed or is not understood.
func (c *Conn) Ended() <-chan struct{} { return c.ended }

// read handles events until there are none. What follows a failure is read as
// well, so that the program never blocks on us.
func (c *Conn) read(r io.Reader) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		if err := c.handle(lines.Bytes()); err != nil {
			c.fail(err)
		}
	}
	c.fail(ErrEnded)
	_, _ = io.Copy(io.Discard, r)
}

// fail makes the connection useless, for the first reason that comes.
func (c *Conn) fail(err error) {
	c.end.Do(func() {
		c.err = err
		close(c.ended)
	})
}

// handle returns an error for an event with which the cluster is of no use.
func (c *Conn) handle(line []byte) error {
	var e Event
	if err := json.Unmarshal(line, &e); err != nil {
		return fmt.Errorf("not a line of the cluster protocol: %.80q: %w", line, err)
	}
	switch e.Name {
	case EventHello:
		c.cluster.Kubernetes = e.Kubernetes
		if e.Protocol != Number {
			return &Mismatch{Program: e.Protocol, Version: Number}
		}
	case EventReady:
		c.cluster.Server, c.cluster.Kubeconfig = e.Server, e.Kubeconfig
		close(c.ready)
	case EventFailed:
		return &Failed{e.Component, e.Error, e.Hint}
	case EventReply:
		c.deliver(e)
	case EventRequest, EventBegun, EventStruck, EventDelivered:
		var r Report
		if err := json.Unmarshal(line, &r); err != nil {
			return fmt.Errorf("not a report of the cluster protocol: %.80q: %w", line, err)
		}
		if seen := c.follower(r.Door); seen != nil {
			seen(r)
		}
	}
	return nil
}

// Follow hands all that is reported of a door to seen, in order, until the connection ends or end is called. Seen must
// not block.
func (c *Conn) Follow(door string, seen func(Report)) (end func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.follows[door] = seen
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.follows, door)
	}
}

func (c *Conn) follower(door string) func(Report) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.follows[door]
}

// deliver hands a reply to who waits for it, if he still does.
func (c *Conn) deliver(e Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.ID == nil {
		return
	}
	if w, ok := c.waiting[*e.ID]; ok {
		delete(c.waiting, *e.ID)
		w <- e
	}
}

// Call makes a request and decodes its result into result, unless that is nil.
func (c *Conn) Call(ctx context.Context, method string, params, result any) error {
	id, reply, err := c.send(method, params)
	if err != nil {
		return err
	}
	select {
	case e := <-reply:
		return e.decode(method, result)
	case <-c.ended:
		return c.err
	case <-ctx.Done():
		c.forget(id)
		return ctx.Err()
	}
}

func (e Event) decode(method string, result any) error {
	if e.Error != "" {
		return fmt.Errorf("%w: %s: %s", ErrRefused, method, e.Error)
	}
	if result == nil {
		return nil
	}
	return json.Unmarshal(e.Result, result)
}

// send writes a request and returns where its reply will come.
func (c *Conn) send(method string, params any) (int64, <-chan Event, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lastID++
	request := Request{ID: c.lastID, Method: method}
	if params != nil {
		var err error
		if request.Params, err = json.Marshal(params); err != nil {
			return 0, nil, err
		}
	}
	line, err := json.Marshal(request)
	if err != nil {
		return 0, nil, err
	}
	reply := make(chan Event, 1)
	c.waiting[c.lastID] = reply
	if _, err := c.w.Write(append(line, '\n')); err != nil {
		delete(c.waiting, c.lastID)
		return 0, nil, fmt.Errorf("%w: %w", ErrEnded, err)
	}
	return c.lastID, reply, nil
}

func (c *Conn) forget(id int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiting, id)
}
