// Package refuge is a user's own folder below the system's temporary one, for what has no other place. Any user can
// make a folder of that name there before, and plant links in it.
//
//	dir, err := refuge.Make()
package refuge

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/slipway-dev/slipway/internal/owner"
)

// errShared is returned for a folder that others could use.
var errShared = errors.New("belongs to another user, or other users may read it")

// Path is where the folder is, or would be.
func Path() string { return filepath.Join(os.TempDir(), "slipway-"+strconv.Itoa(os.Getuid())) }

// Make makes the folder, and refuses one that is there and is not this user's alone.
func Make() (dir string, err error) {
	dir = Path()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	info, err := os.Lstat(dir)
	if err == nil && (!info.IsDir() || !owner.Private(info)) {
		err = &fs.PathError{Op: "use", Path: dir, Err: errShared}
	}
	return dir, err
}
