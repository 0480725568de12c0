//go:build unix

package scratch

import (
	"io/fs"
	"os"
	"syscall"
)

// isOwn reports whether a folder belongs to this user: where the system keeps temporary files, anyone can make one of
// any name.
func isOwn(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Getuid()
}
