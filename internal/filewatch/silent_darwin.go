package filewatch

import (
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// silent returns the name of a file system that does not report what others than this kernel change in it, or "": one
// that is not stored on this machine, by the flag MNT_LOCAL of statfs(2), or one of a program or of a virtual machine's
// host, by its name there.
func silent(path string) string {
	var stat unix.Statfs_t
	if err := unix.Statfs(path, &stat); err != nil {
		return ""
	}
	name := unix.ByteSliceToString(stat.Fstypename[:])
	if stat.Flags&unix.MNT_LOCAL == 0 || strings.Contains(name, "fuse") ||
		slices.Contains([]string{"AppleVirtIOFS", "virtiofs", "vboxsf", "vmhgfs", "prl_fs", "9p"}, name) {
		return name
	}
	return ""
}
