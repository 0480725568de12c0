//go:build linux || darwin || freebsd

package safefs

import "golang.org/x/sys/unix"

func free(dir string) (uint64, bool) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, false
	}
	return uint64(max(0, s.Bavail)) * uint64(s.Bsize), true //nolint:unconvert // of another type on other systems
}
