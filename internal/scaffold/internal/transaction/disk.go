package transaction

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// A Disk is what a run changes. Tests have disks that fill up, fail or stop. Names use slashes and are below root.
type Disk interface {
	// WriteFile creates a file with exactly these permissions. It fails if the name exists.
	WriteFile(root *os.Root, name string, data []byte, mode fs.FileMode) error
	// Rename moves a file and replaces the one at the new name.
	Rename(root *os.Root, from, to string) error
	// Remove removes a file or an empty folder.
	Remove(root *os.Root, name string) error
	Mkdir(root *os.Root, name string) error
}

// OS is the [Disk] of the operating system.
type OS struct{}

// WriteFile implements [Disk]. It removes a file that it could not write in full.
func (OS) WriteFile(root *os.Root, name string, data []byte, mode fs.FileMode) error {
	name = filepath.FromSlash(name)
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Chmod(mode), f.Close()); err != nil {
		return errors.Join(err, root.Remove(name))
	}
	return nil
}

// Rename implements [Disk].
func (OS) Rename(root *os.Root, from, to string) error {
	return root.Rename(filepath.FromSlash(from), filepath.FromSlash(to))
}

// Remove implements [Disk].
func (OS) Remove(root *os.Root, name string) error { return root.Remove(filepath.FromSlash(name)) }

// Mkdir implements [Disk].
func (OS) Mkdir(root *os.Root, name string) error { return root.Mkdir(filepath.FromSlash(name), 0o755) }
