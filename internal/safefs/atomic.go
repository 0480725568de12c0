package safefs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Write makes data the content of the file at path, with exactly the
// permissions perm. A symbolic link stays one: what it points to is replaced, or made.
func Write(path string, data []byte, perm fs.FileMode) error {
	return disk{(*os.File).Sync}.write(path, data, perm)
}

// WriteSecret is [Write] for a file that its user alone may read, from its first byte on. It follows no symbolic link,
// which in a folder of several users may be a stranger's: what is at path is replaced.
func WriteSecret(path string, data []byte) error {
	return disk{(*os.File).Sync}.replace(path, data, func(temp *os.File) error { return temp.Chmod(0o600) })
}

// WriteCache is [Write] for content that a power loss may take: the file may be empty after it.
func WriteCache(path string, data []byte, perm fs.FileMode) error {
	return disk{func(*os.File) error { return nil }}.write(path, data, perm)
}

// Sync waits until what [WriteCache] wrote has reached the disk.
func Sync(path string) error {
	d := disk{(*os.File).Sync}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := d.sync(f); err != nil {
		return err
	}
	return d.syncFolder(filepath.Dir(path))
}

// disk is where files are written; sync waits until a file, or the names in a folder, have reached it.
type disk struct{ sync func(*os.File) error }

func (d disk) write(path string, data []byte, perm fs.FileMode) error {
	path, err := follow(path)
	if err != nil {
		return err
	}
	return d.replace(path, data, func(temp *os.File) error { return temp.Chmod(perm) })
}

// replace renames a new file, which adorn makes like the old one, to path.
func (d disk) replace(path string, data []byte, adorn func(temp *os.File) error) (err error) {
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
	if err := adorn(temp); err != nil {
		return err
	}
	if err := d.fill(temp, data); err != nil {
		return err
	}
	if err := os.Rename(temp.Name(), path); err != nil {
		return err
	}
	return d.syncFolder(filepath.Dir(path))
}

// fill writes all of a file and closes it.
func (d disk) fill(f *os.File, data []byte) error {
	if _, err := f.Write(data); err != nil {
		return err
	}
	if err := d.sync(f); err != nil {
		return err
	}
	return f.Close()
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
