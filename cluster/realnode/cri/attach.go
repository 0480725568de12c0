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

// attached are those who see what a container writes. None of them holds the container up for longer than [stall].
type attached struct {
	hurried chan struct{} // closed a moment after the container's end: slow clients are sent away
	done    chan struct{} // closed once nothing more will be written

	mu  sync.Mutex
	all map[*viewer]bool
}

const (
	// stall is how long a viewer may take nothing while the container has more for it than waits already.
	stall = 2 * time.Second
	// hurry is how long viewers are waited for once the container has ended.
	hurry = time.Second
	// waiting is how many pieces of output wait for a viewer.
	waiting = 64
	// goodbye is how long a viewer has, once the container has ended, for what waits.
	goodbye = 10 * time.Second
)

// viewer is one of them. It has a goroutine of its own, since its client may stop to read.
type viewer struct {
	out, err io.Writer // nil for streams that are not wanted
	queue    chan piece
	gone     chan struct{}
	once     sync.Once
	why      error // why it is gone, once it is
}

// piece is what is to be shown.
type piece struct {
	to   io.Writer
	text []byte
}

func newViewer(out, errs io.Writer) *viewer {
	return &viewer{out: out, err: errs, queue: make(chan piece, waiting), gone: make(chan struct{})}
}

func (v *viewer) leave(why error) {
	v.once.Do(func() {
		v.why = why
		close(v.gone)
	})
}

// show shows what comes until the viewer is gone, or nothing more comes.
func (v *viewer) show(done <-chan struct{}) {
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

func (v *viewer) write(p piece) {
	if _, err := p.to.Write(p.text); err != nil {
		v.leave(nil) // a client that went
	}
}

// offer gives the viewer something to show, and waits a moment if it is behind. One that takes nothing meanwhile has to
// leave.
func (v *viewer) offer(p piece, hurried <-chan struct{}) {
	select {
	case v.queue <- p:
		return
	default:
	}
	timer := time.NewTimer(stall)
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

// errStalled says why a client was sent away.
var errStalled = fmt.Errorf("the client has not read the container's output for %s; kubectl logs prints all of it", stall)

func newAttached() *attached {
	return &attached{all: map[*viewer]bool{}, hurried: make(chan struct{}), done: make(chan struct{})}
}

// add lets somebody see what is written from now on.
func (a *attached) add(v *viewer) {
	a.mu.Lock()
	a.all[v] = true
	a.mu.Unlock()
	go v.show(a.done)
}

func (a *attached) remove(v *viewer) {
	v.leave(nil)
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.all, v)
}

// write shows output to all, who may see it later.
func (a *attached) write(stream string, text []byte) {
	a.mu.Lock()
	viewers := slices.Collect(maps.Keys(a.all))
	a.mu.Unlock()
	if len(viewers) == 0 {
		return
	}
	text = bytes.Clone(text) // the caller's is overwritten
	for _, v := range viewers {
		to := v.out
		if stream == "stderr" {
			to = v.err
		}
		if to != nil {
			v.offer(piece{to, text}, a.hurried)
		}
	}
}

// hurry gives viewers one more moment to let the rest of a container's output pass.
func (a *attached) hurry() (stop func() bool) {
	return time.AfterFunc(hurry, func() { close(a.hurried) }).Stop
}

// close sends everybody away who has seen all: the container has ended.
func (a *attached) close() { close(a.done) }

// Attach joins streams to those of a container that runs, until it ends.
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
			_, _ = io.Copy(run.stdin, in) // the client tells of its failures itself
			if c.config.GetStdinOnce() && run.terminal == nil {
				_ = run.stdin.Close()
			}
		}()
	}
	return v.await(ctx, run.ended)
}

// writer is nil for a stream that is not wanted.
func writer(w io.WriteCloser) io.Writer {
	if w == nil {
		return nil
	}
	return w
}

// await returns when the viewer has seen all, or why it does not.
func (v *viewer) await(ctx context.Context, ended <-chan struct{}) error {
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
	case <-time.After(goodbye):
	}
	return nil
}
