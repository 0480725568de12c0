//go:build unix

package stock

import (
	"fmt"
	"os"
	"syscall"
)

// become replaces this process by a program. It returns only if that fails.
func become(path string, args []string) (status int, err error) {
	return 0, fmt.Errorf("run %s: %w", path, syscall.Exec(path, args, os.Environ()))
}
