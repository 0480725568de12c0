// Package archive writes archives whose bytes follow from their entries and one time alone:
//
//	err := archive.TarGz(w, date, entries) // for Unix
//	err := archive.Zip(w, date, entries)   // for Windows
//
// Entries are sorted by name, belong to root, and have the modes 0755 or 0644.
package archive

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
)

// Entry is a file of an archive: that at Path, or else Data.
type Entry struct {
	Name       string // with slashes
	Executable bool
	Path       string
	Data       []byte
}

// Mode is that of the file in the archive.
func (e Entry) Mode() os.FileMode {
	if e.Executable {
		return 0o755
	}
	return 0o644
}

// open returns the content and its size.
func (e Entry) open() (io.ReadCloser, int64, error) {
	if e.Path == "" {
		return io.NopCloser(bytes.NewReader(e.Data)), int64(len(e.Data)), nil
	}
	f, err := os.Open(e.Path)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}

// sorted are entries in the order of their names.
func sorted(entries []Entry) []Entry {
	entries = slices.Clone(entries)
	slices.SortFunc(entries, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	return entries
}

// TarGz writes a compressed tar archive.
func TarGz(w io.Writer, date time.Time, entries []Entry) error {
	zipped := gzip.NewWriter(w)
	archive := tar.NewWriter(zipped)
	for _, e := range sorted(entries) {
		if err := addTar(archive, date, e); err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), zipped.Close())
}

func addTar(w *tar.Writer, date time.Time, e Entry) error {
	content, size, err := e.open()
	if err != nil {
		return err
	}
	defer content.Close()
	h := tar.Header{Typeflag: tar.TypeReg, Name: e.Name, Mode: int64(e.Mode()), Size: size, ModTime: date, Format: tar.FormatUSTAR}
	if err := w.WriteHeader(&h); err != nil {
		return err
	}
	_, err = io.Copy(w, content)
	return err
}

// Zip writes a zip archive.
func Zip(w io.Writer, date time.Time, entries []Entry) error {
	archive := zip.NewWriter(w)
	archive.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.DefaultCompression) })
	for _, e := range sorted(entries) {
		if err := addZip(archive, date, e); err != nil {
			return err
		}
	}
	return archive.Close()
}

func addZip(w *zip.Writer, date time.Time, e Entry) error {
	content, _, err := e.open()
	if err != nil {
		return err
	}
	defer content.Close()
	h := zip.FileHeader{Name: e.Name, Method: zip.Deflate, Modified: date.UTC()}
	h.SetMode(e.Mode())
	file, err := w.CreateHeader(&h)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	return err
}
