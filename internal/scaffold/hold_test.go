package scaffold

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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

// TestInterrupted: what a killed command left is refused by plans and taken back by Hold.
func TestInterrupted(t *testing.T) {
	root := newProject(t, Project{})
	before := tree(t, root)
	must(t, os.Mkdir(filepath.Join(root, ".slipway", "pending"), 0o755))
	must(t, os.WriteFile(filepath.Join(root, ".slipway", "pending", "0.new"), []byte("half a fi"), 0o644))
	for _, v := range verbs(Project{}) {
		_, err := v.plan(root)
		if refusal, ok := errors.AsType[*report.Error](err); !ok || !strings.HasSuffix(refusal.Where, "pending") || refusal.Hint == "" {
			t.Errorf("%s: got %v", v.name, err)
		}
	}
	release, err := Hold(t.Context(), root, t.TempDir(), report.Discard)
	must(t, err)
	release()
	if diff := cmp.Diff(before, tree(t, root)); diff != "" {
		t.Error(diff)
	}
}
