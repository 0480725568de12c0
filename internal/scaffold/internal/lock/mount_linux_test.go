package lock

import (
	"testing"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/internal/report"
)

// TestHoldThroughAMount: a project that is mounted elsewhere, as in a container, is the same one.
func TestHoldThroughAMount(t *testing.T) {
	root, elsewhere := t.TempDir(), t.TempDir()
	if err := unix.Mount(root, elsewhere, "", unix.MS_BIND, ""); err != nil {
		t.Skip("folders cannot be mounted: ", err)
	}
	t.Cleanup(func() { must(t, unix.Unmount(elsewhere, unix.MNT_DETACH)) })
	release, err := Hold(t.Context(), root, own(t), report.Discard)
	must(t, err)
	lock, got, err := tryLock(elsewhere, own(t).Locks, report.Discard)
	if err != nil || got {
		t.Errorf("locked: %v, %v", got, err)
	}
	release()
	if got, err = lock.TryLock(); err != nil || !got {
		t.Errorf("locked: %v, %v", got, err)
	}
	must(t, lock.Unlock())
}
