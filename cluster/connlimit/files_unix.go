//go:build unix

package connlimit

import "golang.org/x/sys/unix"

// OpenFiles is how many files this process may have open.
func OpenFiles() (limit uint64, known bool) {
	var files unix.Rlimit
	err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files)
	return uint64(files.Cur), err == nil //nolint:unconvert // of another type on other systems
}
