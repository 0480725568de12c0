//go:build unix

package transaction

import (
	"os"
	"strconv"
	"syscall"
)

// Identity distinguishes a folder from all others and from its copies, whatever path leads to it. The volume's number
// may change when the machine restarts; the folder's does not.
func Identity(root *os.Root) (volume, folder string, err error) {
	info, err := root.Stat(".")
	if err != nil {
		return "", "", err
	}
	stat := info.Sys().(*syscall.Stat_t)
	return strconv.FormatUint(uint64(stat.Dev), 16), strconv.FormatUint(uint64(stat.Ino), 16), nil //nolint:unconvert // of other types on other systems
}
