package ring

import (
	"errors"
	"syscall"
)

// full reports whether room on the disk would help. The numbers are ERROR_HANDLE_DISK_FULL and ERROR_DISK_FULL.
func full(err error) bool {
	return errors.Is(err, syscall.Errno(39)) || errors.Is(err, syscall.Errno(112))
}
