package safefs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
)

// A Folder is written below.
type Folder struct {
	root *os.Root
	path string // absolute, as it was asked for
	real string // without links
}

// OpenFolder opens the folder at path.
func OpenFolder(name string) (*Folder, error) {
	name, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(real)
	if err != nil {
		return nil, err
	}
	return &Folder{root: root, path: name, real: real}, nil
}

// Close ends the use of the folder.
func (f *Folder) Close() error { return f.root.Close() }

// Root is the open folder, for operations on names that Resolve returned.
func (f *Folder) Root() *os.Root { return f.root }

// Path is the folder's absolute path without links.
func (f *Folder) Path() string { return f.real }

// An OutsideError is a path that leads out of the folder, or to where git keeps its own files.
type OutsideError struct {
	Path   string // as it was asked for
	Link   string // the symbolic link on the way, below the folder; "" if the path itself leads out
	Leads  string // where to, absolute
	Folder string
	Git    bool // it is git's own folder that it leads to
}

func (e *OutsideError) Error() string {
	where := "outside of " + e.Folder
	if e.Git {
		where = "among git's own files"
	}
	if e.Link != "" {
		return fmt.Sprintf("%s is a symbolic link to %s, %s", e.Link, e.Leads, where)
	}
	return fmt.Sprintf("%s lies %s", e.Leads, where)
}

// Below returns the name of an absolute path in the folder, with slashes, links not followed. Ok is false if it is not
// below.
func (f *Folder) Below(full string) (name string, ok bool) {
	for _, base := range []string{f.path, f.real} {
		if rel, err := filepath.Rel(base, full); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel), true
		}
	}
	return "", false
}

// Resolve returns where a name below the folder leads to once all links are followed, as a name with slashes that has
// none. It need not exist.
func (f *Folder) Resolve(name string) (string, error) {
	w := walk{folder: f, asked: name, rest: split(name)}
	for len(w.rest) > 0 {
		if err := w.step(); err != nil {
			return "", err
		}
	}
	for _, part := range w.done {
		if IsGit(part) {
			return "", &OutsideError{Path: name, Link: w.link, Leads: f.full(path.Join(w.done...)), Folder: f.real, Git: true}
		}
	}
	return path.Join(append([]string{"."}, w.done...)...), nil
}

// IsGit reports whether a folder of that name is git's own, on one file system or another.
func IsGit(name string) bool {
	return strings.EqualFold(strings.TrimRight(name, " ."), ".git") || strings.EqualFold(name, "git~1")
}

// full is the absolute path of a name without links.
func (f *Folder) full(name string) string { return filepath.Join(f.real, filepath.FromSlash(name)) }

func split(name string) []string { return strings.Split(filepath.ToSlash(name), "/") }

// walk follows a name part by part.
type walk struct {
	folder *Folder
	asked  string
	done   []string // free of links
	rest   []string
	link   string // the last link that was followed
	links  int
}

// step takes the next part.
func (w *walk) step() error {
	next := w.rest[0]
	w.rest = w.rest[1:]
	switch {
	case next == "" || next == ".":
		return nil
	case next == ".." && len(w.done) > 0:
		w.done = w.done[:len(w.done)-1]
		return nil
	case next == "..":
		return w.jump(filepath.Join(append([]string{filepath.Dir(w.folder.real)}, w.rest...)...))
	}
	at := path.Join(append(w.done[:len(w.done):len(w.done)], next)...)
	info, err := w.folder.root.Lstat(filepath.FromSlash(at))
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && info.Mode()&fs.ModeSymlink == 0:
		w.done = append(w.done, next)
		return nil
	case err != nil:
		return err
	}
	return w.follow(at)
}

// follow goes on at what a link points to.
func (w *walk) follow(link string) error {
	if w.links++; w.links > maxLinks {
		return &fs.PathError{Op: "follow", Path: w.folder.full(w.asked), Err: syscall.ELOOP}
	}
	target, err := w.folder.root.Readlink(filepath.FromSlash(link))
	if err != nil {
		return err
	}
	w.link = link
	if filepath.IsAbs(target) {
		return w.jump(filepath.Join(append([]string{target}, w.rest...)...))
	}
	w.rest = append(split(target), w.rest...)
	return nil
}

// jump goes on at an absolute path if that is below the folder.
func (w *walk) jump(full string) error {
	name, ok := w.folder.Below(full)
	if !ok {
		return &OutsideError{Path: w.asked, Link: w.link, Leads: full, Folder: w.folder.real}
	}
	if w.links++; w.links > maxLinks {
		return &fs.PathError{Op: "follow", Path: w.folder.full(w.asked), Err: syscall.ELOOP}
	}
	w.done, w.rest = nil, split(name)
	return nil
}
