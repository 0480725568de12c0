//go:build unix

package safefs

import (
	"io/fs"
	"os"
	"syscall"
)

// OwnedByUser reports whether a file belongs to the user whom this process runs as.
func OwnedByUser(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Getuid()
}

// IsPrivate reports whether a file or folder is the user's alone: no other user may read or change it.
func IsPrivate(info fs.FileInfo) bool { return OwnedByUser(info) && info.Mode().Perm()&0o077 == 0 }
