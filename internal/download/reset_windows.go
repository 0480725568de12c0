package download

import (
	"errors"

	"golang.org/x/sys/windows"
)

// isReset reports whether a connection was torn down.
func isReset(err error) bool { return errors.Is(err, windows.WSAECONNRESET) }
