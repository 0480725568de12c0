//go:build unix

package gocommand

import (
	"math"

	"golang.org/x/sys/unix"
)

// quota is the error of a user who may have no more of a disk.
const quota = unix.EDQUOT

// room is how many bytes are free for the user on a folder's disk.
func room(dir string) uint64 {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return math.MaxUint64
	}
	return uint64(s.Bavail) * uint64(s.Bsize)
}
