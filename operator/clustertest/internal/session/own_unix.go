//go:build unix

package session

import (
	"io/fs"
	"os"
	"syscall"
)

// isPrivate reports whether a file or folder is this user's alone: anyone can make one of any name among temporary
// files.
func isPrivate(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Getuid() && info.Mode().Perm()&0o077 == 0
}

// inode is the number by which the file system knows a folder. A copy has another one.
func inode(dir string) (uint64, error) {
	info, err := os.Lstat(dir)
	if err != nil {
		return 0, err
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, &fs.PathError{Op: "inode", Path: dir, Err: syscall.ENOTSUP}
	}
	return uint64(s.Ino), nil //nolint:unconvert // of another type on other systems
}
