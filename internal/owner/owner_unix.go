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
