//go:build unix

package safefs

import (
	"io/fs"
	"os"
	"syscall"
)

// Inode is the number by which a file system knows a file or folder, links not followed. A copy has another one, and
// whatever is renamed keeps its own.
func Inode(path string) (uint64, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return 0, err
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, &fs.PathError{Op: "inode", Path: path, Err: syscall.ENOTSUP}
	}
	return uint64(s.Ino), nil //nolint:unconvert // of another type on other systems
}
