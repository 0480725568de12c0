package inputs

import (
	"io/fs"
	"syscall"
)

// details are the time of the last change of status and the inode.
func details(info fs.FileInfo) (changed int64, inode uint64) {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Ctimespec.Nano(), s.Ino
	}
	return 0, 0
}
