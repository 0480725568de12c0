// Package atomicfile replaces files that only this program's user may read, so that a reader, or a crash, meets the old
// content or the new one. The command has a package of the same name and a larger choice: the two modules share no
// code.
package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
)

// Write makes data the content of the file at path (0600). With sync it is on the disk when Write returns.
func Write(path string, data []byte, sync bool) (err error) {
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // made with mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = temp.Close()
			_ = os.Remove(temp.Name())
		}
	}()
	if _, err := temp.Write(data); err != nil {
		return err
	}
	if sync {
		err = temp.Sync()
	}
	if err := errors.Join(err, temp.Close()); err != nil {
		return err
	}
	if err := os.Rename(temp.Name(), path); err != nil || !sync {
		return err
	}
	return syncFolder(filepath.Dir(path))
}
