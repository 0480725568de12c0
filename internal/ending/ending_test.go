package ending_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/ending"
)

var errAsked = errors.New("asked to end")

// begin runs work and asks it to end once it goes on.
func begin(t *testing.T, work func(ctx context.Context, on func())) (result <-chan error, waits <-chan []string) {
	t.Helper()
	ctx, ask := context.WithCancelCause(t.Context())
	on, done, waiting := make(chan struct{}), make(chan error, 1), make(chan []string, 9)
	go func() {
		done <- ending.Run(ctx, func(ctx context.Context) error {
			work(ctx, func() { close(on) })
			return nil
		}, func(what []string) { waiting <- what })
	}()
	<-on
	ask(errAsked)
	return done, waiting
}

// TestDeaf: what does not look at its context is left behind.
func TestDeaf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := time.Now()
		result, _ := begin(t, func(_ context.Context, on func()) {
			on()
			<-t.Context().Done()
		})
		if err := <-result; !errors.Is(err, ending.ErrCut) || !errors.Is(err, errAsked) {
			t.Error(err)
		}
		if took := time.Since(asked); took != ending.Patience {
			t.Errorf("it had %v to end", took)
		}
	})
}

// TestAwaited: what is announced comes to its end, and what follows it as well.
func TestAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second, ended := make(chan struct{}), make(chan struct{}), false
		result, waits := begin(t, func(ctx context.Context, on func()) {
			over := ending.Await(ctx, "the first")
			defer ending.Await(ctx, "the second")()
			on()
			<-first
			over()
			over() // once more is as good as once
			<-second
			ended = true
		})
		if diff := cmp.Diff([]string{"the first", "the second"}, <-waits); diff != "" {
			t.Error(diff)
		}
		close(first)
		if diff := cmp.Diff([]string{"the second"}, <-waits); diff != "" {
			t.Error(diff)
		}
		close(second)
		if err := <-result; err != nil || !ended {
			t.Errorf("%v, ended: %t", err, ended)
		}
	})
}

// TestAwaitedThenDeaf: what was awaited is over, and the rest does not end.
func TestAwaitedThenDeaf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		child := make(chan struct{})
		result, waits := begin(t, func(ctx context.Context, on func()) {
			over := ending.Await(ctx, "a child")
			on()
			<-child
			over()
			<-t.Context().Done()
		})
		<-waits
		close(child)
		if err := <-result; !errors.Is(err, ending.ErrCut) {
			t.Error(err)
		}
	})
}

// TestByItself: work that ends by itself has its own error, asked or not.
func TestByItself(t *testing.T) {
	failed := errors.New("failed")
	fail := func(ctx context.Context) error {
		defer ending.Await(ctx, "something")()
		return failed
	}
	if err := ending.Run(t.Context(), fail, nil); !errors.Is(err, failed) || errors.Is(err, ending.ErrCut) {
		t.Error(err)
	}
	if err := fail(t.Context()); !errors.Is(err, failed) { // outside of Run
		t.Error(err)
	}
}
