package fileview

import (
	"bytes"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// Over returns a view in which some files differ: changed maps names to new contents, or to nil for deleted files.
func Over(view View, changed map[string][]byte) View { return &over{view, changed} }

type over struct {
	View
	changed map[string][]byte
}

func (o *over) ReadFile(name string) ([]byte, error) {
	content, is := o.changed[name]
	switch {
	case !is:
		return o.View.ReadFile(name)
	case content == nil:
		return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrNotExist}
	}
	return slices.Clone(content), nil
}

func (o *over) Stat(name string) (fs.FileInfo, error) {
	content, is := o.changed[name]
	switch {
	case is && content == nil:
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
	case is:
		return entry{path.Base(name), int64(len(content)), false}, nil
	}
	info, err := o.View.Stat(name)
	if err != nil && o.holds(name) {
		return entry{name: path.Base(name), dir: true}, nil
	}
	return info, err
}

// ReadDir lists a folder. A folder whose files are all deleted remains.
func (o *over) ReadDir(name string) ([]fs.DirEntry, error) {
	listed, err := o.View.ReadDir(name)
	if err != nil && !o.holds(name) {
		return nil, err
	}
	listed = slices.DeleteFunc(slices.Clone(listed), func(e fs.DirEntry) bool {
		_, is := o.changed[path.Join(name, e.Name())]
		return is
	})
	for file, content := range o.changed {
		rest, below := within(name, file)
		if !below || content == nil {
			continue
		}
		e := entry{name: rest, size: int64(len(content))}
		if folder, _, deeper := strings.Cut(rest, "/"); deeper {
			e = entry{name: folder, dir: true}
		}
		if !slices.ContainsFunc(listed, func(other fs.DirEntry) bool { return other.Name() == e.name }) {
			listed = append(listed, e)
		}
	}
	slices.SortFunc(listed, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return listed, nil
}

// holds reports whether a changed file that is not deleted lies below a folder.
func (o *over) holds(folder string) bool {
	for file, content := range o.changed {
		if _, below := within(folder, file); below && content != nil {
			return true
		}
	}
	return false
}

func within(folder, file string) (rest string, below bool) {
	if folder == "." {
		return file, true
	}
	return strings.CutPrefix(file, folder+"/")
}

func (o *over) Open(name string) (fs.File, error) {
	info, err := o.Stat(name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		listed, err := o.ReadDir(name)
		return &openFolder{info, listed}, err
	}
	if _, is := o.changed[name]; !is {
		return o.View.Open(name)
	}
	return &openFile{info, bytes.NewReader(o.changed[name])}, nil
}

// An entry is the [fs.FileInfo] and [fs.DirEntry] of a file or folder that is not on disk.
type entry struct {
	name string
	size int64
	dir  bool
}

func (e entry) Name() string               { return e.name }
func (e entry) Size() int64                { return e.size }
func (e entry) IsDir() bool                { return e.dir }
func (e entry) ModTime() time.Time         { return time.Time{} }
func (e entry) Sys() any                   { return nil }
func (e entry) Info() (fs.FileInfo, error) { return e, nil }
func (e entry) Type() fs.FileMode          { return e.Mode().Type() }
func (e entry) String() string             { return fs.FormatFileInfo(e) }

func (e entry) Mode() fs.FileMode {
	if e.dir {
		return fs.ModeDir | 0o755
	}
	return 0o644
}

type openFile struct {
	info fs.FileInfo
	*bytes.Reader
}

func (f *openFile) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *openFile) Close() error               { return nil }

type openFolder struct {
	info fs.FileInfo
	left []fs.DirEntry
}

func (f *openFolder) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *openFolder) Close() error               { return nil }

func (f *openFolder) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: f.info.Name(), Err: fs.ErrInvalid}
}

func (f *openFolder) ReadDir(n int) ([]fs.DirEntry, error) {
	if n <= 0 {
		n = len(f.left)
	} else if len(f.left) == 0 {
		return nil, io.EOF
	}
	n = min(n, len(f.left))
	read := f.left[:n]
	f.left = f.left[n:]
	return read, nil
}
