//go:build unix

package process

import (
	"fmt"
	"syscall"
)

// Become replaces this process by the program argv[0], which inherits its
// streams, its signals and its exit status. It returns only if that fails.
func Become(argv, environ []string) error {
	path, err := find(argv[0])
	if err != nil {
		return err
	}
	return fmt.Errorf("run %s: %w", path, syscall.Exec(path, argv, environ))
}
