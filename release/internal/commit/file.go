package commit

import (
	"bytes"
	"io"
	"io/fs"
	"path"
	"time"
)

// file is a file of a commit, which modules are packed of.
type file struct {
	name string
	data []byte
}

// Path, Lstat and Open are those of a zip.File.
func (f file) Path() string                 { return f.name }
func (f file) Lstat() (fs.FileInfo, error)  { return info{f}, nil }
func (f file) Open() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(f.data)), nil }

// info is what a file of a commit is like.
type info struct{ file }

// Name and the others are those of an fs.FileInfo. A module's files have no time and no mode of their own.
func (i info) Name() string       { return path.Base(i.name) }
func (i info) Size() int64        { return int64(len(i.data)) }
func (i info) Mode() fs.FileMode  { return 0o644 }
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) IsDir() bool        { return false }
func (i info) Sys() any           { return nil }
