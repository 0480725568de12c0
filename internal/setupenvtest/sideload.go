package setupenvtest

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
)

// The most that an archive may unpack to, those of a release: three programs have some hundred megabytes.
const (
	maxEntries  = 1000
	maxUnpacked = 4 << 30
)

// Why an archive is refused.
var (
	errMany  = errors.New("too many files")
	errBytes = errors.New("too many bytes")
)

// limits are what an archive may unpack to.
type limits struct {
	entries int
	bytes   int64
}

// add makes the item's folder from a .tar.gz archive, in place of the one that is there. When the archive is bad, that
// one stays.
func (s Store) add(i Item, archive io.Reader) error {
	temp, err := s.prepare()
	if err != nil {
		return err
	}
	defer func() { _ = removeFolder(temp) }() // gone when it was renamed
	if err := unpack(temp, archive, limits{maxEntries, maxUnpacked}); err != nil {
		return unusable("the archive cannot be unpacked", "stdin", err)
	}
	folder := s.Path(i)
	if err := removeFolder(folder); err != nil {
		return unusable("cannot replace "+i.String(), folder, err)
	}
	if err := os.Rename(temp, folder); err != nil {
		return unusable("cannot make the folder", folder, err)
	}
	// As the peer has them. What is unpacked is of use all the same.
	_ = os.Chmod(folder, 0o555)
	return nil
}

// unpack writes an archive's files into folder, whatever folders they are in. A small archive may hold more than
// fits on a disk.
func unpack(folder string, archive io.Reader, most limits) error {
	zip, err := gzip.NewReader(archive)
	if err != nil {
		return err
	}
	files := tar.NewReader(&limited{zip, most.bytes})
	for entries := 0; ; entries++ {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if entries == most.entries {
			return errMany
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		if err := unpackFile(folder, header, files); err != nil {
			return err
		}
	}
}

func unpackFile(folder string, header *tar.Header, content io.Reader) (err error) {
	name := path.Base(path.Clean("/" + filepath.ToSlash(header.Name)))
	if name == "/" || name == markerName {
		return fmt.Errorf("a file cannot have the name %q", header.Name)
	}
	mode := os.FileMode(header.Mode) & 0o555 //nolint:gosec // masked
	f, err := os.OpenFile(filepath.Join(folder, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	return errors.Join(err, f.Close())
}

// limited refuses to be read beyond a number of bytes, whatever they are for.
type limited struct {
	from io.Reader
	left int64
}

// Read reads what is left.
func (l *limited) Read(p []byte) (int, error) {
	n, err := l.from.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return n, errBytes
	}
	return n, err
}
