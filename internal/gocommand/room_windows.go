package gocommand

import (
	"math"

	"golang.org/x/sys/windows"
)

// quota is the error of a disk without room.
const quota = windows.ERROR_DISK_FULL

// room is how many bytes are free for the user on a folder's disk.
func room(dir string) uint64 {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return math.MaxUint64
	}
	var free uint64
	if windows.GetDiskFreeSpaceEx(name, &free, nil, nil) != nil {
		return math.MaxUint64
	}
	return free
}
