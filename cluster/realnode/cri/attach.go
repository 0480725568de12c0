package cri

import (
	"context"
	"fmt"
	"io"
	"sync"

	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
)

// attached are those who see what a container writes.
type attached struct {
	mu     sync.Mutex
	all    map[*viewer]bool
	closed bool
}

// viewer is one of them.
type viewer struct {
	out, err io.Writer // nil for streams that are not wanted
	gone     chan struct{}
	once     sync.Once
}

func (v *viewer) leave() { v.once.Do(func() { close(v.gone) }) }

func newAttached() *attached { return &attached{all: map[*viewer]bool{}} }

// add lets somebody see what is written from now on.
func (a *attached) add(v *viewer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		v.leave()
		return
	}
	a.all[v] = true
}

func (a *attached) remove(v *viewer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.all, v)
}

func (a *attached) write(stream string, line []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for v := range a.all {
		to := v.out
		if stream == "stderr" {
			to = v.err
		}
		if to == nil {
			continue
		}
		if _, err := to.Write(line); err != nil {
			delete(a.all, v)
			v.leave()
		}
	}
}

// close sends everybody away: the container has ended.
func (a *attached) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	for v := range a.all {
		v.leave()
	}
}

// Attach joins streams to those of a container that runs, until it ends.
func (s streams) Attach(ctx context.Context, id string, in io.Reader, out, errs io.WriteCloser, tty bool, resize <-chan remotecommand.TerminalSize) error {
	c, run, err := s.running(id)
	if err != nil {
		return err
	}
	if in != nil && run.stdin == nil {
		return fmt.Errorf("container %s has no stdin: its pod does not ask for one", c.config.GetMetadata().GetName())
	}
	v := &viewer{gone: make(chan struct{})}
	if out != nil {
		v.out = out
	}
	if errs != nil {
		v.err = errs
	}
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
	select {
	case <-v.gone:
	case <-run.ended:
	case <-ctx.Done():
	}
	return nil
}
