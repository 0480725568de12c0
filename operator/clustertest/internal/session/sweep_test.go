package session

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/slipway-dev/slipway/operator/clustertest/internal/fault"
)

func TestSweep(t *testing.T) {
	tmp := t.TempDir()
	long := time.Now().Add(-time.Hour)
	folder := func(name string, lock bool, age time.Time) string {
		dir := filepath.Join(tmp, name)
		if err := os.MkdirAll(filepath.Join(dir, "data"), 0o700); err != nil {
			t.Fatal(err)
		}
		if lock {
			if err := os.WriteFile(filepath.Join(dir, "lock"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chtimes(dir, age, age); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	running := folder("slipway-test-running", true, long)
	lock := flock.New(filepath.Join(running, "lock"))
	if ok, err := lock.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	t.Cleanup(func() { _ = lock.Unlock() })
	stays := map[string]bool{
		running: true,
		folder("slipway-test-killed", true, long):               false,
		folder("slipway-test-killed-early", false, long):        false,
		folder("slipway-test-about-to-begin", true, time.Now()): true,
		folder("somebody-else", true, long):                     true,
	}
	if os.Getuid() == 0 {
		strange := folder("slipway-test-of-a-stranger", true, long)
		if err := errors.Join(os.Chown(strange, 1, 1), os.Chtimes(strange, long, long)); err != nil {
			t.Fatal(err)
		}
		stays[strange] = true
	}
	sweep(tmp)
	for dir, want := range stays {
		if _, err := os.Stat(dir); (err == nil) != want {
			t.Errorf("%s stays: %v, want %t", filepath.Base(dir), err, want)
		}
	}
}

func TestNoTemporaryFolder(t *testing.T) {
	nowhere := filepath.Join(t.TempDir(), "nowhere")
	t.Setenv("TMPDIR", nowhere)
	_, err := newDir()
	e, ok := errors.AsType[*fault.Error](err)
	if !ok || e.Where != nowhere || !errors.Is(err, fs.ErrNotExist) || e.Hint == "" {
		t.Errorf("%+v", err)
	}
}
