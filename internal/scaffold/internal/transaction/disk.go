package transaction

import (
	"errors"
	"io/fs"
	"os"
)

// A Disk is what a run changes; tests have one that fills up, breaks or stops.
type Disk interface {
	// WriteFile makes a new file with exactly these permissions.
	WriteFile(name string, data []byte, mode fs.FileMode) error
	// Rename moves a file, in place of the one that is there.
	Rename(from, to string) error
	// Remove removes a file or an empty folder.
	Remove(name string) error
	Mkdir(name string) error
}

// OS is the operating system's disk.
type OS struct{}

// WriteFile makes a new file. One that could not be written in full is removed.
func (OS) WriteFile(name string, data []byte, mode fs.FileMode) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Chmod(mode), f.Close()); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return nil
}

// Rename moves a file.
func (OS) Rename(from, to string) error { return os.Rename(from, to) }

// Remove removes a file or an empty folder.
func (OS) Remove(name string) error { return os.Remove(name) }

// Mkdir makes a folder.
func (OS) Mkdir(name string) error { return os.Mkdir(name, 0o755) }
