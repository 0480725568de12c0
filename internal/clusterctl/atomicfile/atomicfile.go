// Package atomicfile replaces files so that a reader, or a crash, meets the old
// content or the new one and never a half of it.
package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Write makes data the content of the file at path, with exactly the
// permissions perm. A symbolic link stays one: what it points to is replaced, or made.
func Write(path string, data []byte, perm fs.FileMode) (err error) {
	if path, err = follow(path); err != nil {
		return err
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

// maxLinks is how many symbolic links in a row are followed; the systems do not
// follow more either.
const maxLinks = 40

// follow returns the path of the file that path leads to, which need not exist.
func follow(path string) (string, error) {
	for range maxLinks {
		target, err := os.Readlink(path)
		if err != nil {
			return path, nil // no link, or nothing at all
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	return "", &fs.PathError{Op: "follow", Path: path, Err: errLoop}
}

// errLoop is returned for symbolic links that lead nowhere.
var errLoop = errors.New("too many symbolic links")
