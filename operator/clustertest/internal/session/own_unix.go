//go:build unix

package session

import (
	"io/fs"
	"os"
	"syscall"
)

// isOwn reports whether a folder belongs to this user: anyone can make one of any name among temporary files.
func isOwn(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Getuid()
}
