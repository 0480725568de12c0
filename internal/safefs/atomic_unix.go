//go:build unix

package safefs

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// mounted tells whether a file could not be replaced because something is mounted on it.
func mounted(err error) bool { return errors.Is(err, syscall.EBUSY) || errors.Is(err, syscall.EXDEV) }

// hasOtherNames tells whether a file is in other folders too, which would keep the old content.
func hasOtherNames(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && s.Nlink > 1
}

// keepOwner gives temp to the owner and the group of old.
func keepOwner(temp *os.File, old fs.FileInfo) error {
	own, err := temp.Stat()
	if err != nil {
		return err
	}
	is, ok := own.Sys().(*syscall.Stat_t)
	want, known := old.Sys().(*syscall.Stat_t)
	if !ok || !known || is.Uid == want.Uid && is.Gid == want.Gid {
		return nil
	}
	return temp.Chown(int(want.Uid), int(want.Gid))
}

// syncFolder waits until the names in a folder have reached the disk, where the file system can say so.
func (d disk) syncFolder(dir string) error {
	f, err := os.Open(dir)
	if errors.Is(err, fs.ErrPermission) {
		return nil // a folder that may be written and not read
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if err := d.sync(f); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}
