package transaction

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// A Disk is what a run changes; tests have one that fills up, breaks or stops. Names have slashes and are below root.
type Disk interface {
	// WriteFile makes a new file with exactly these permissions, where nothing is.
	WriteFile(root *os.Root, name string, data []byte, mode fs.FileMode) error
	// Rename moves a file, in place of the one that is there.
	Rename(root *os.Root, from, to string) error
	// Remove removes a file or an empty folder.
	Remove(root *os.Root, name string) error
	Mkdir(root *os.Root, name string) error
}

// OS is the operating system's disk.
type OS struct{}

// WriteFile makes a new file. One that could not be written in full is removed.
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

// Rename moves a file.
func (OS) Rename(root *os.Root, from, to string) error {
	return root.Rename(filepath.FromSlash(from), filepath.FromSlash(to))
}

// Remove removes a file or an empty folder.
func (OS) Remove(root *os.Root, name string) error { return root.Remove(filepath.FromSlash(name)) }

// Mkdir makes a folder.
func (OS) Mkdir(root *os.Root, name string) error { return root.Mkdir(filepath.FromSlash(name), 0o755) }
