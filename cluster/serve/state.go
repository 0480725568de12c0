package serve

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// errState marks a state folder that cannot be used; errLocked one that another
// cluster uses.
var (
	errState  = errors.New("state folder")
	errLocked = errors.New("locked by a cluster that is running")
)

// openState makes the folder, which belongs to this cluster alone, and takes the
// lock on it. The lock ends with the process at the latest.
func openState(dir string) (*flock.Flock, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("%w %s: %w", errState, dir, err)
	}
	lock := flock.New(filepath.Join(dir, "lock"), flock.SetPermissions(0o600))
	got, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("%w %s: lock: %w", errState, dir, err)
	}
	if !got {
		return nil, fmt.Errorf("%w %s: %w", errState, dir, errLocked)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return nil, errors.Join(fmt.Errorf("%w %s: %w", errState, dir, err), lock.Close())
	}
	return lock, nil
}
