//go:build unix

package refuge

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// errShared is returned for a folder that others could use.
var errShared = errors.New("belongs to another user, or other users may read it")

// private refuses a folder that is not this user's alone.
func private(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.IsDir() || int(owner.Uid) != os.Getuid() || info.Mode().Perm()&0o077 != 0 {
		return &fs.PathError{Op: "use", Path: dir, Err: errShared}
	}
	return nil
}
