//go:build unix

package atomicfile

import (
	"errors"
	"os"
	"syscall"
)

// syncFolder waits until the names in a folder have reached the disk, where the file system can say so.
func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}
