package safefs

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// maxSize is far above what files of projects have, which people write and review.
const maxSize = 64 << 20

// Why a file is not read.
var (
	ErrNoFile = errors.New("it is a pipe, a socket or a device")
	ErrLarge  = errors.New("it has more than 64 MiB")
)

// ReadFile reads a file that has an end.
func ReadFile(path string) ([]byte, error) {
	if err := readable(path); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

// CopyTo writes the content of a file that has an end, piece by piece.
func CopyTo(w io.Writer, path string) error {
	if err := readable(path); err != nil {
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, file)
	return errors.Join(err, file.Close())
}

// readable reports why there is no reading a file.
func readable(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case info.IsDir(), path == os.DevNull: // reading the one says what it is, and the other ends at once
	case !info.Mode().IsRegular():
		return &fs.PathError{Op: "read", Path: path, Err: ErrNoFile}
	case info.Size() > maxSize:
		return &fs.PathError{Op: "read", Path: path, Err: ErrLarge}
	}
	return nil
}
