// Package atomicfile replaces files so that a reader, or a crash, meets the old
// content or the new one and never a half of it.
package atomicfile

import (
	"io/fs"
	"os"
	"path/filepath"
)

// Write makes data the content of the file at path, with exactly the
// permissions perm. A symbolic link stays one: what it points to is replaced.
func Write(path string, data []byte, perm fs.FileMode) (err error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = temp.Close()
			_ = os.Remove(temp.Name())
		}
	}()
	if err := temp.Chmod(perm); err != nil {
		return err
	}
	if _, err := temp.Write(data); err != nil {
		return err
	}
	if err := temp.Close(); err != nil {
		return err
	}
	return os.Rename(temp.Name(), path)
}
