package cri

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
)

// attached are the clients that see a container's output. None delays the container for longer than [slowClientLimit].
type attached struct {
	hurried chan struct{} // closed a moment after the container's end: clients that lag must leave
	done    chan struct{} // closed when no more output will come

	mu  sync.Mutex
	all map[*client]bool
}

const (
	// slowClientLimit is the time for which a client with a full queue may read nothing before it must leave.
	slowClientLimit = 2 * time.Second
	// limitDrain is the time for which the rest of the output waits for clients after the container's end.
	limitDrain = time.Second
	// waiting is the length of a client's queue, in pieces of output.
	waiting = 64
	// drainTimeout is the time that a client has to read its queue after the container's end.
	drainTimeout = 10 * time.Second
)

// client is one client. It has a goroutine of its own, since clients may stop reading.
type client struct {
	out, err io.Writer // nil for a stream that the client does not want
	queue    chan piece
	gone     chan struct{}
	once     sync.Once
	why      error // the reason why it left; valid when gone is closed
}

type piece struct {
	to   io.Writer
	text []byte
}

func newViewer(out, errs io.Writer) *client {
	return &client{out: out, err: errs, queue: make(chan piece, waiting), gone: make(chan struct{})}
}

func (v *client) leave(why error) {
	v.once.Do(func() {
		v.why = why
		close(v.gone)
	})
}

// show writes the queue to the client until the client leaves or the output ends.
func (v *client) show(done <-chan struct{}) {
	for {
		select {
		case p := <-v.queue:
			v.write(p)
		case <-v.gone:
			return
		case <-done:
			for len(v.queue) > 0 {
				v.write(<-v.queue)
			}
			v.leave(nil)
			return
		}
	}
}

func (v *client) write(p piece) {
	if _, err := p.to.Write(p.text); err != nil {
		v.leave(nil) // the client has disconnected
	}
}

// enqueue adds a piece to the queue. If the queue is full it waits for stall, and then makes the client leave.
func (v *client) enqueue(p piece, hurried <-chan struct{}) {
	select {
	case v.queue <- p:
		return
	default:
	}
	timer := time.NewTimer(slowClientLimit)
	defer timer.Stop()
	select {
	case v.queue <- p:
	case <-v.gone:
	case <-hurried:
		v.leave(errStalled)
	case <-timer.C:
		v.leave(errStalled)
	}
}

// errStalled is the reason for a client that did not read.
var errStalled = fmt.Errorf("the client has not read the container's output for %s; kubectl logs prints all of it", slowClientLimit)

func newAttached() *attached {
	return &attached{all: map[*client]bool{}, hurried: make(chan struct{}), done: make(chan struct{})}
}

// add shows a client all output from now on.
func (a *attached) add(v *client) {
	a.mu.Lock()
	a.all[v] = true
	a.mu.Unlock()
	go v.show(a.done)
}

func (a *attached) remove(v *client) {
	v.leave(nil)
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.all, v)
}

// write shows output to all clients. It copies text.
func (a *attached) write(stream string, text []byte) {
	a.mu.Lock()
	viewers := slices.Collect(maps.Keys(a.all))
	a.mu.Unlock()
	if len(viewers) == 0 {
		return
	}
	text = bytes.Clone(text) // the caller reuses its buffer
	for _, v := range viewers {
		to := v.out
		if stream == "stderr" {
			to = v.err
		}
		if to != nil {
			v.enqueue(piece{to, text}, a.hurried)
		}
	}
}

// hurry bounds the delay by clients after the container's end.
func (a *attached) hurry() (stop func() bool) {
	return time.AfterFunc(limitDrain, func() { close(a.hurried) }).Stop
}

// close ends all clients when they have read their queues.
func (a *attached) close() { close(a.done) }

// Attach connects streams to a running container until it ends.
func (s streams) Attach(ctx context.Context, id string, in io.Reader, out, errs io.WriteCloser, tty bool, resize <-chan remotecommand.TerminalSize) error {
	c, run, err := s.running(id)
	if err != nil {
		return err
	}
	if in != nil && run.stdin == nil {
		return fmt.Errorf("container %s has no stdin: its pod does not set stdin", c.config.GetMetadata().GetName())
	}
	v := newViewer(writer(out), writer(errs))
	run.attached.add(v)
	defer run.attached.remove(v)
	if run.terminal != nil {
		go FollowSize(run.terminal, resize)
	}
	if in != nil {
		go func() {
			_, _ = io.Copy(run.stdin, in) // a failing client reports its own error
			if c.config.GetStdinOnce() && run.terminal == nil {
				_ = run.stdin.Close()
			}
		}()
	}
	return v.await(ctx, run.ended)
}

// writer returns w, or a nil interface for a nil w.
func writer(w io.WriteCloser) io.Writer {
	if w == nil {
		return nil
	}
	return w
}

// await waits until the client has read all or left. It returns the reason if the client had to leave.
func (v *client) await(ctx context.Context, ended <-chan struct{}) error {
	select {
	case <-v.gone:
		return v.why
	case <-ctx.Done():
		return nil
	case <-ended:
	}
	select {
	case <-v.gone:
		return v.why
	case <-ctx.Done():
	case <-time.After(drainTimeout):
	}
	return nil
}
