package devloop

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/userdirs"
)

// alone has no other dev loop of the user work on the project until release is called: both would build the same
// program. The system releases the lock when the process ends.
func alone(root string) (release func() error, err error) {
	dir, err := userdirs.Locks()
	if err != nil {
		return nil, err
	}
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("lock the project for the dev loop: %w", err)
	}
	sum := sha256.Sum256([]byte(root))
	lock := flock.New(filepath.Join(dir, "dev-"+hex.EncodeToString(sum[:16])), flock.SetPermissions(0o600))
	held, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock the project for the dev loop: %w", err)
	}
	if !held {
		return nil, &report.Error{What: "another slipway dev of this project runs", Where: root, Hint: "go on in its terminal, or end it there with Ctrl-C"}
	}
	return lock.Unlock, nil
}
