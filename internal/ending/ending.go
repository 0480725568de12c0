// Package ending is how a command ends when a signal asks it to: within a second, also where its work never looks at
// its context, but not before what it started has ended.
//
//	err := ending.Run(ctx, work, waiting)     // once, around all that the command does
//	defer ending.Await(ctx, "go build")()     // around a child process, or what must not be left half done
//
// A work that does not end with its context is left behind, and goes on until the process ends, which is to be soon.
// Whatever may be cut off at any place, as by kill -9, needs nothing of this package: a computation, a read, a file
// that is replaced at once, a folder that the next command sweeps.
package ending

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Patience is how long work may go on after its context has ended, with nothing awaited.
const Patience = 500 * time.Millisecond

// ErrCut is in the error of a work that was left behind.
var ErrCut = errors.New("it did not end by itself")

// Run returns the error of work. If ctx ends first, and work does not end in the time of [Patience], Run waits for what
// [Await] has announced, and leaves work behind once that is over: the error is then ErrCut with the cause of ctx.
// Waiting is called with what is awaited, and again when that changes; Run does not wait for it.
func Run(ctx context.Context, work func(context.Context) error, waiting func(what []string)) error {
	a, done := &awaited{changed: make(chan struct{})}, make(chan error, 1)
	go func() { done <- work(context.WithValue(ctx, key{}, a)) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	var reported []string
	for {
		select {
		case err := <-done:
			return err
		case <-time.After(Patience):
		}
		what, changed := a.now()
		if len(what) == 0 {
			return fmt.Errorf("%w: %w", ErrCut, context.Cause(ctx))
		}
		if !slices.Equal(what, reported) {
			reported = what
			go waiting(what) // it may block, as all output may
		}
		select {
		case err := <-done:
			return err
		case <-changed:
		}
	}
}

// key is where a context has what is awaited.
type key struct{}

// Await has the command's end wait for something, such as a child process that was asked to stop, until over is called.
// Its user reads what is awaited. Outside of [Run] it does nothing.
func Await(ctx context.Context, what string) (over func()) {
	a, ok := ctx.Value(key{}).(*awaited)
	if !ok {
		return func() {}
	}
	return sync.OnceFunc(a.add(what))
}

// awaited is what is awaited at a time, in the order in which that began.
type awaited struct {
	sync.Mutex
	all     []*string
	changed chan struct{} // closed when something is over
}

func (a *awaited) add(what string) (remove func()) {
	a.Lock()
	defer a.Unlock()
	a.all = append(a.all, &what)
	return func() {
		a.Lock()
		defer a.Unlock()
		a.all = slices.DeleteFunc(a.all, func(one *string) bool { return one == &what })
		close(a.changed)
		a.changed = make(chan struct{})
	}
}

// now is what is awaited, each once, and a channel that is closed when something of it is over.
func (a *awaited) now() (what []string, changed <-chan struct{}) {
	a.Lock()
	defer a.Unlock()
	for _, one := range a.all {
		if !slices.Contains(what, *one) {
			what = append(what, *one)
		}
	}
	return what, a.changed
}
