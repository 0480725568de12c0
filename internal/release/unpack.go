package release

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// The most that an archive may unpack to.
const (
	maxEntries  = 1000
	maxUnpacked = 4 << 30
)

// ErrArchive is that an archive is none of a release.
var ErrArchive = errors.New("not an archive of a release")

// Unpack writes those files of an archive whose names are wanted into dir, executable. The archive has them in one
// folder; what is in it besides is passed over, and what is elsewhere or no plain file is refused.
func Unpack(archive, folder, dir string, wanted []string) error {
	u := unpacking{folder: folder, dir: dir, wanted: map[string]bool{}, room: maxUnpacked}
	for _, name := range wanted {
		u.wanted[name] = true
	}
	read := u.tar
	if strings.HasSuffix(archive, ".zip") {
		read = u.zip
	}
	if err := read(archive); err != nil {
		return fmt.Errorf("%w: %w", ErrArchive, err)
	}
	for name := range u.wanted {
		return fmt.Errorf("%w: it lacks %s", ErrArchive, name)
	}
	return nil
}

// unpacking is what is left to be done and may still be.
type unpacking struct {
	folder, dir string
	wanted      map[string]bool // files yet to come
	entries     int
	room        int64
}

// Why an archive is refused.
var (
	errOutside = errors.New("a name outside of its folder")
	errKind    = errors.New("neither a file nor a folder")
	errMany    = errors.New("too many files")
	errBytes   = errors.New("too many bytes")
)

func (u *unpacking) tar(archive string) error {
	file, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		return err
	}
	for r := tar.NewReader(&counted{unzipped, maxUnpacked}); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if header.Typeflag != tar.TypeReg && header.Typeflag != tar.TypeDir {
			return fmt.Errorf("%w: %.100q", errKind, header.Name)
		}
		if err := u.entry(header.Name, header.Typeflag == tar.TypeDir, r); err != nil {
			return err
		}
	}
}

func (u *unpacking) zip(archive string) error {
	r, err := zip.OpenReader(archive)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	for _, f := range r.File {
		if kind := f.Mode().Type(); kind != 0 && kind != fs.ModeDir {
			return fmt.Errorf("%w: %.100q", errKind, f.Name)
		}
		if err := u.zipped(f); err != nil {
			return err
		}
	}
	return nil
}

func (u *unpacking) zipped(f *zip.File) error {
	content, err := f.Open()
	if err != nil {
		return err
	}
	defer func() { _ = content.Close() }()
	return u.entry(f.Name, f.Mode().IsDir(), content)
}

// entry takes or passes over an entry.
func (u *unpacking) entry(name string, isFolder bool, content io.Reader) error {
	if u.entries++; u.entries > maxEntries {
		return errMany
	}
	trimmed := name
	if isFolder {
		trimmed = strings.TrimSuffix(name, "/")
	}
	base, within := strings.CutPrefix(trimmed, u.folder+"/")
	if !fs.ValidPath(trimmed) || strings.ContainsAny(trimmed, "\\:") || !within && trimmed != u.folder {
		return fmt.Errorf("%w: %.100q", errOutside, name)
	}
	if isFolder || !u.wanted[base] {
		return nil
	}
	delete(u.wanted, base) // a second one of the name is passed over
	return u.write(filepath.Join(u.dir, base), content)
}

func (u *unpacking) write(path string, content io.Reader) (err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	n, err := io.Copy(file, io.LimitReader(content, u.room+1))
	if u.room -= n; err == nil && u.room < 0 {
		return errBytes
	}
	return err
}

// counted refuses to be read beyond a number of bytes, whatever they are for.
type counted struct {
	from io.Reader
	left int64
}

// Read reads what is left.
func (c *counted) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	if c.left -= int64(n); c.left < 0 {
		return n, errBytes
	}
	return n, err
}
