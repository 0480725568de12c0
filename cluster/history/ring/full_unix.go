//go:build unix

package ring

import (
	"errors"
	"syscall"
)

// full reports whether room on the disk would help.
func full(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }
