package plan

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"path/filepath"
	"slices"

	"github.com/slipway-dev/slipway/internal/finite"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/fileerror"
)

// BaseFile is where a project keeps its base, relative to the project.
const BaseFile = ".slipway/base"

// maxBase bounds what a base may hold, in bytes, so that a damaged file cannot
// exhaust the memory.
const maxBase = 64 << 20

// A Base holds files as they were scaffolded, before anyone edited them. It is
// committed with the project, as a compressed tar archive without times or owners:
// the same files give the same bytes.
type Base struct {
	files   map[string][]byte
	changed bool
}

// ReadBase reads the base of the project in folder root; a project without one,
// which another tool made, has an empty base.
func ReadBase(root string) (*Base, error) {
	data, err := finite.ReadFile(filepath.Join(root, filepath.FromSlash(BaseFile)))
	if errors.Is(err, fs.ErrNotExist) {
		return &Base{files: map[string][]byte{}}, nil
	}
	if err != nil {
		return nil, fileerror.Unreadable(BaseFile, err)
	}
	files, err := decodeBase(data)
	if err != nil {
		return nil, &report.Error{
			What:  "the record of what was scaffolded is damaged",
			Where: BaseFile,
			Hint:  "restore it from version control, or remove it; without it later updates merge less well",
			Next:  "git checkout -- " + BaseFile,
			Err:   err,
		}
	}
	return &Base{files: files}, nil
}

// File returns a file as it was scaffolded; path uses slashes.
func (b *Base) File(path string) ([]byte, bool) {
	data, ok := b.files[path]
	return data, ok
}

// Files returns all files in the order of their paths.
func (b *Base) Files() iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for _, path := range slices.Sorted(maps.Keys(b.files)) {
			if !yield(path, b.files[path]) {
				return
			}
		}
	}
}

// Set records a file.
func (b *Base) Set(path string, content []byte) {
	if old, ok := b.files[path]; ok && bytes.Equal(old, content) {
		return
	}
	b.files[path] = content
	b.changed = true
}

// Remove forgets a file.
func (b *Base) Remove(path string) {
	if _, ok := b.files[path]; ok {
		delete(b.files, path)
		b.changed = true
	}
}

// encode packs the base.
func (b *Base) encode() ([]byte, error) {
	var out bytes.Buffer
	zw, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, fmt.Errorf("pack base: %w", err)
	}
	tw := tar.NewWriter(zw)
	for path, content := range b.Files() {
		header := &tar.Header{Format: tar.FormatPAX, Typeflag: tar.TypeReg, Name: path, Mode: 0o644, Size: int64(len(content))}
		if err := tw.WriteHeader(header); err != nil {
			return nil, fmt.Errorf("pack base: %w", err)
		}
		if _, err := tw.Write(content); err != nil {
			return nil, fmt.Errorf("pack base: %w", err)
		}
	}
	if err := errors.Join(tw.Close(), zw.Close()); err != nil {
		return nil, fmt.Errorf("pack base: %w", err)
	}
	return out.Bytes(), nil
}

// decodeBase unpacks what encode packed.
func decodeBase(data []byte) (map[string][]byte, error) {
	zr, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	tr := tar.NewReader(io.LimitReader(zr, maxBase))
	for {
		header, err := tr.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if !filepath.IsLocal(header.Name) {
			return nil, fmt.Errorf("file %q lies outside of the project", header.Name)
		}
		if files[header.Name], err = io.ReadAll(tr); err != nil {
			return nil, err
		}
	}
	if _, err := io.Copy(io.Discard, io.LimitReader(zr, maxBase)); err != nil { // verifies the checksum
		return nil, err
	}
	return files, nil
}
