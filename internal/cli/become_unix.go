//go:build unix

package cli

import (
	"fmt"
	"syscall"
)

// become replaces this process by the program argv[0], which inherits its
// streams, its signals and its exit status. It returns only if that fails.
func become(argv, environ []string) error {
	return fmt.Errorf("run %s: %w", argv[0], syscall.Exec(argv[0], argv, environ))
}
