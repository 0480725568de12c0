//go:build unix

package owner

import (
	"io/fs"
	"os"
	"syscall"
)

// IsUser reports whether a file belongs to the user whom this process runs as.
func IsUser(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Getuid()
}

// Private reports whether a file or folder is the user's alone: no other user may read or change it.
func Private(info fs.FileInfo) bool { return IsUser(info) && info.Mode().Perm()&0o077 == 0 }
