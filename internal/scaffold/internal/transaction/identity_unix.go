//go:build unix

package transaction

import (
	"os"
	"strconv"
	"syscall"
)

// Identity reports a folder from all others, and from its copies, by whatever path it is reached. The volume's number
// may be another one after the machine was started again, the folder's stays.
func Identity(root *os.Root) (volume, folder string, err error) {
	info, err := root.Stat(".")
	if err != nil {
		return "", "", err
	}
	stat := info.Sys().(*syscall.Stat_t)
	return strconv.FormatUint(uint64(stat.Dev), 16), strconv.FormatUint(uint64(stat.Ino), 16), nil //nolint:unconvert // of other types on other systems
}
