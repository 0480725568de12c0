package safefs

import (
	"bytes"
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
	var b bytes.Buffer
	if err := copyTo(&b, path, func(size int64) { b.Grow(int(size) + bytes.MinRead) }); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// CopyTo writes the content of a file that has an end, piece by piece.
func CopyTo(w io.Writer, path string) error { return copyTo(w, path, func(int64) {}) }

// copyTo writes the content of a file. It calls expect with the size that the file is said to have, in bytes.
func copyTo(w io.Writer, path string, expect func(size int64)) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case info.IsDir(), path == os.DevNull: // reading the one says what it is, and the other ends at once
	case !info.Mode().IsRegular():
		return &fs.PathError{Op: "read", Path: path, Err: ErrNoFile}
	case info.Size() > maxSize:
		return &fs.PathError{Op: "read", Path: path, Err: ErrLarge}
	default:
		expect(info.Size())
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	n, err := io.Copy(w, io.LimitReader(file, maxSize+1)) // some files of /proc are said to be empty
	if err == nil && n > maxSize {
		err = &fs.PathError{Op: "read", Path: path, Err: ErrLarge}
	}
	return errors.Join(err, file.Close())
}
