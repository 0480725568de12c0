//go:build unix

package download

import (
	"errors"
	"syscall"
)

// isReset reports whether a connection was torn down.
func isReset(err error) bool { return errors.Is(err, syscall.ECONNRESET) }
