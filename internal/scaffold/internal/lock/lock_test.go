package lock

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/slipway-dev/slipway/internal/report"
)

// TestHoldWaits: a second command waits, says so, and goes on when the first is done;
// also when it reaches the project by another way.
func TestHoldWaits(t *testing.T) {
	root, locks := t.TempDir(), t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(root, link); err != nil {
		link = root
	}
	release, err := Hold(t.Context(), root, locks, report.Discard)
	must(t, err)
	waiting := make(chan struct{})
	done := make(chan error)
	go func() {
		releaseSecond, err := Hold(t.Context(), link, locks, report.HandlerFunc(func(report.Event) { close(waiting) }))
		if err == nil {
			releaseSecond()
		}
		done <- err
	}()
	<-waiting
	select {
	case err := <-done:
		t.Fatalf("the second one did not wait: %v", err)
	default:
	}
	release()
	must(t, <-done)
}

// TestHoldEndsWithItsContext: who waits can be interrupted.
func TestHoldEndsWithItsContext(t *testing.T) {
	root, locks := t.TempDir(), t.TempDir()
	release, err := Hold(t.Context(), root, locks, report.Discard)
	must(t, err)
	defer release()
	ctx, cancel := context.WithCancel(t.Context())
	_, err = Hold(ctx, root, locks, report.HandlerFunc(func(report.Event) { cancel() }))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestHoldWithoutAPlace names the folder that locks cannot be made in.
func TestHoldWithoutAPlace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o644))
	_, err := Hold(t.Context(), t.TempDir(), filepath.Join(file, "locks"), report.Discard)
	if refusal, ok := errors.AsType[*report.Error](err); !ok || refusal.Where != filepath.Join(file, "locks") {
		t.Errorf("got %v", err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
