package userdirs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/slipway-dev/slipway/internal/safefs"
)

// errShared is returned for a folder that others could use.
var errShared = errors.New("belongs to another user, or other users may read it")

// PrivatePath is where the folder is, or would be.
func PrivatePath() string { return filepath.Join(os.TempDir(), "slipway-"+strconv.Itoa(os.Getuid())) }

// MakePrivate makes the folder, and refuses one that is there and is not this user's alone.
func MakePrivate() (dir string, err error) {
	dir = PrivatePath()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	info, err := os.Lstat(dir)
	if err == nil && (!info.IsDir() || !safefs.IsPrivate(info)) {
		err = &fs.PathError{Op: "use", Path: dir, Err: errShared}
	}
	return dir, err
}
