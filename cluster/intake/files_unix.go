//go:build unix

package services

import "golang.org/x/sys/unix"

// openFiles is how many files this process may have open.
func openFiles() (limit uint64, known bool) {
	var files unix.Rlimit
	err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files)
	return uint64(files.Cur), err == nil
}
