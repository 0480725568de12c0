package safefs

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// Update makes data the content of a file that belongs to the user. Its permissions, its owner, and the links and
// mounts that lead to it stay as they are; perm is for a file that does not exist yet.
//
// Update writes a file in place if it cannot replace it. Either something is mounted on the file, or it has several
// names, or only root could give a copy to its owner. Meanwhile the former content lies beside the file, at [Backup].
func Update(path string, data []byte, perm fs.FileMode) error {
	return disk{(*os.File).Sync}.update(path, data, perm)
}

// Backup is where the former content of a file is while [Update] writes it in place. It is there afterwards only
// when that was interrupted.
func Backup(path string) string { return path + ".slipway-backup" }

func (d disk) update(path string, data []byte, perm fs.FileMode) error {
	path, err := follow(path)
	if err != nil {
		return err
	}
	old, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return d.write(path, data, perm)
	case err != nil:
		return err
	case !old.Mode().IsRegular():
		return &fs.PathError{Op: "write", Path: path, Err: errIrregular}
	case hasOtherNames(old):
		return d.overwrite(path, data)
	}
	err = d.replace(path, data, func(temp *os.File) error {
		if err := keepOwner(temp, old); err != nil {
			return errors.Join(errOther, err)
		}
		return temp.Chmod(old.Mode().Perm())
	})
	if errors.Is(err, errOther) || mounted(err) {
		return d.overwrite(path, data)
	}
	return err
}

var (
	// errOther says that a copy of a file would not have the file's owner.
	errOther     = errors.New("cannot set the owner of a file")
	errIrregular = errors.New("is not a regular file")
)

// overwrite writes a file in place, after a copy of what it holds. When it fails, the file gets that back.
func (d disk) overwrite(path string, data []byte) (err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	before, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	if err := d.replace(Backup(path), before, func(*os.File) error { return nil }); err != nil { // made with mode 0600
		return err
	}
	if err = d.refill(f, data); err != nil && d.refill(f, before) != nil {
		return err // the copy stays
	}
	return errors.Join(err, os.Remove(Backup(path)))
}

// refill makes data all that f holds.
func (d disk) refill(f *os.File, data []byte) error {
	if _, err := f.WriteAt(data, 0); err != nil {
		return err
	}
	if err := f.Truncate(int64(len(data))); err != nil {
		return err
	}
	return d.sync(f)
}
