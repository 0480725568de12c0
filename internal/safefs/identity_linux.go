package safefs

import (
	"io/fs"
	"syscall"
)

// Details are the time of the last change of status and the inode.
func Details(info fs.FileInfo) (changed int64, inode uint64) {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Ctim.Nano(), s.Ino
	}
	return 0, 0
}
