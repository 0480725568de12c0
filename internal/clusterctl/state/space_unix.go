//go:build linux || darwin

package state

import "golang.org/x/sys/unix"

// freeSpace is what this user may still write to the disk that holds dir.
func freeSpace(dir string) (bytes uint64, known bool) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, false
	}
	return s.Bavail * uint64(s.Bsize), true
}
