package lock

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/slipway-dev/slipway/internal/report"
)

// TestHoldWaits: a second command waits, says so, and goes on when the first is done;
// also when it reaches the project by another way, and has other folders of its own.
func TestHoldWaits(t *testing.T) {
	root := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(root, link); err != nil {
		link = root
	}
	release, err := Hold(t.Context(), root, own(t), report.Discard)
	must(t, err)
	waiting := make(chan struct{})
	done := make(chan error)
	go func() {
		releaseSecond, err := Hold(t.Context(), link, own(t), report.HandlerFunc(func(report.Event) { close(waiting) }))
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
	root := t.TempDir()
	release, err := Hold(t.Context(), root, own(t), report.Discard)
	must(t, err)
	defer release()
	ctx, cancel := context.WithCancel(t.Context())
	_, err = Hold(ctx, root, own(t), report.HandlerFunc(func(report.Event) { cancel() }))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestHoldWithoutAPlace names the folder that does not exist.
func TestHoldWithoutAPlace(t *testing.T) {
	gone := filepath.Join(t.TempDir(), "gone")
	_, err := Hold(t.Context(), gone, own(t), report.Discard)
	if refusal, ok := errors.AsType[*report.Error](err); !ok || refusal.Where != gone {
		t.Errorf("got %v", err)
	}
}

// TestNothingIsLeft: neither in the project nor, where folders can be locked, anywhere else.
func TestNothingIsLeft(t *testing.T) {
	root, own := t.TempDir(), own(t)
	release, err := Hold(t.Context(), root, own, report.Discard)
	must(t, err)
	release()
	for _, dir := range []string{root, filepath.Dir(own.Keys)} {
		if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 && runtime.GOOS != "windows" {
			t.Errorf("%s has %v, %v", dir, entries, err)
		}
	}
}

// TestStandIn: where folders cannot be locked, the same file stands for a folder by whatever path it is reached, and
// another one for its copy.
func TestStandIn(t *testing.T) {
	root, locks := t.TempDir(), own(t).Locks
	first, err := standIn(root, locks)
	must(t, err)
	moved := root + "-moved"
	must(t, os.Rename(root, moved))
	second, err := standIn(filepath.Join(moved, "..", filepath.Base(moved)), locks)
	must(t, err)
	other, err := standIn(t.TempDir(), locks)
	must(t, err)
	if first.Path() != second.Path() || first.Path() == other.Path() {
		t.Errorf("%s, %s, %s", first.Path(), second.Path(), other.Path())
	}
	got, err := first.TryLock()
	must(t, err)
	if again, err := second.TryLock(); err != nil || !got || again {
		t.Errorf("locked %v and %v: %v", got, again, err)
	}
	must(t, first.Unlock())
	refused := errors.New("not this user's")
	if _, err := standIn(moved, func() (string, error) { return "", refused }); !errors.Is(err, refused) {
		t.Errorf("got %v", err)
	}
}

// TestNotOurs: the traces of a command that was not ours stop a command, which says what to do and changes nothing.
func TestNotOurs(t *testing.T) {
	root := t.TempDir()
	journal := filepath.Join(root, ".slipway", "pending", "journal")
	must(t, os.MkdirAll(filepath.Dir(journal), 0o755))
	must(t, os.WriteFile(journal, []byte(`{"files":[{"path":"x","target":"/tmp/x"}]}`), 0o644))
	_, err := Hold(t.Context(), root, own(t), report.Discard)
	if refusal, ok := errors.AsType[*report.Error](err); !ok || refusal.Where != filepath.Dir(journal) || refusal.Next == "" {
		t.Errorf("got %v", err)
	}
	if _, err := os.Lstat(journal); err != nil {
		t.Error(err)
	}
	must(t, os.RemoveAll(filepath.Dir(journal)))
	release, err := Hold(t.Context(), root, own(t), report.Discard) // the failed one holds nothing
	must(t, err)
	release()
}

// own are folders of a user's own that are not there yet.
func own(t *testing.T) Folders {
	dir := t.TempDir()
	return Folders{Keys: filepath.Join(dir, "keys"), Locks: func() (string, error) { return filepath.Join(dir, "locks"), nil }}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
