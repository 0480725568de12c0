// Package fileview reads each file of a project once, by its path in the project.
//
//	view := fileview.Disk(root)
//	text, err := view.ReadFile("Makefile")
//
// Code that reads a project takes a [View]. With [Over], it sees the files as a planned change would leave them.
package fileview

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/slipway-dev/slipway/internal/safefs"
	"github.com/slipway-dev/slipway/internal/yamlsize"
)

// A View is the files of a project. Names are valid for [fs.ValidPath] and relative to the project's folder.
type View interface {
	fs.ReadFileFS
	fs.ReadDirFS
	fs.StatFS
}

// Disk returns a view of the files below root. It reads each file once, when it is first needed, and keeps the content.
// It follows links only within the project's repository. A file elsewhere, or one below .git, could otherwise get into
// images and messages. A file without an end is refused as [safefs.ReadFile] does.
func Disk(root string) *Folder {
	return &Folder{root: root, read: make(map[string]*content), places: make(map[string]string), known: new(sync.Map)}
}

// ErrOutside is the error for a link that is not followed.
var ErrOutside = errors.New("a link leads out of the repository")

// repository returns the folder that links may lead to: the nearest one with a .git from root upwards, but not the
// user's home, else root. The result has no links in its path, or is "" on an error.
func repository(root string) string {
	root, err := filepath.EvalSymlinks(root)
	if err != nil {
		return ""
	}
	home, _ := os.UserHomeDir() // without a home, no folder is excluded
	if home, err = filepath.EvalSymlinks(home); err != nil {
		home = ""
	}
	for dir := root; dir != home && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
	}
	return root
}

// Root returns the folder on disk.
func (d *Folder) Root() string { return d.root }

// inside reports whether a path leads into the repository. One that leads nowhere counts as inside.
func (d *Folder) inside(path string) bool {
	place, err := d.place(path)
	if err != nil {
		return true
	}
	d.once.Do(func() { d.repository = repository(d.root) })
	rel, err := filepath.Rel(d.repository, place)
	if err != nil || !filepath.IsLocal(rel) {
		return false
	}
	return !slices.Contains(strings.Split(filepath.ToSlash(rel), "/"), ".git")
}

// place returns a path with its links resolved. It caches those of folders.
func (d *Folder) place(path string) (string, error) {
	if info, err := os.Lstat(path); err != nil || info.Mode()&fs.ModeSymlink != 0 || path == d.root {
		return filepath.EvalSymlinks(path)
	}
	dir := filepath.Dir(path)
	d.mu.Lock()
	real, known := d.places[dir]
	d.mu.Unlock()
	if !known {
		var err error
		if real, err = filepath.EvalSymlinks(dir); err != nil {
			return "", err
		}
		d.mu.Lock()
		d.places[dir] = real
		d.mu.Unlock()
	}
	return filepath.Join(real, filepath.Base(path)), nil
}

// Renewed returns a view of the folder's current files. It shares contents with the views it was renewed from: a file
// is read again only if its identity changed, or if it was too new for its times to show a change.
func (d *Folder) Renewed() *Folder {
	return &Folder{root: d.root, read: make(map[string]*content), places: make(map[string]string), known: d.known}
}

// A Folder is a project's files on disk; see [Disk]. It is safe for concurrent use.
type Folder struct {
	root string
	once sync.Once
	// repository is the folder that links may lead to, set by once.
	repository string
	mu         sync.Mutex
	read       map[string]*content
	places     map[string]string // folders without links, by path
	known      *sync.Map         // from name to a copy of the last *content with an id; shared by renewed views
}

type content struct {
	mu   sync.Mutex
	is   bool // the fields below are set
	data []byte
	err  error
	id   string // identity of the settled file, else ""; see [safefs.Identity]
	raw  bool   // the data is not checked yet
}

// settled is the age from which a file's times show every later change.
const settled = 3 * time.Second

// load reads the file unless it was read before or known has the content of the same file.
func (c *content) load(name, path string, known *sync.Map) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.check(path)
	if c.is {
		return
	}
	c.is = true
	info, err := os.Stat(path)
	if err == nil {
		if earlier, is := known.Load(name); is && earlier.(*content).id == safefs.IdentityOf(path, info) {
			c.data, c.id, c.raw = earlier.(*content).data, earlier.(*content).id, earlier.(*content).raw
			return
		}
	}
	c.data, c.err = safefs.ReadFile(path)
	c.raw = true
	c.check(path)
	if err == nil && c.err == nil {
		c.settle(name, path, info, known)
	}
}

// check refuses data that no parser is to see.
func (c *content) check(path string) {
	if !c.raw {
		return
	}
	c.raw = false
	if c.err != nil || !isYAML(path) {
		return
	}
	if err := yamlsize.Nesting(c.data); err != nil {
		c.data, c.err = nil, &fs.PathError{Op: "read", Path: path, Err: err}
	}
}

// settle lets views that are renewed from this one know the content, unless the file is too new.
func (c *content) settle(name, path string, info fs.FileInfo, known *sync.Map) {
	if time.Since(info.ModTime()) > settled {
		c.id = safefs.IdentityOf(path, info)
		known.Store(name, &content{data: c.data, id: c.id, raw: c.raw})
	}
}

// isYAML reports whether a file is YAML by its name. Such files may be a stranger's, so package yamlsize limits their
// nesting before any parser sees them.
func isYAML(path string) bool {
	extension := filepath.Ext(path)
	return extension == ".yaml" || extension == ".yml" || filepath.Base(path) == "Kustomization" || filepath.Base(path) == "PROJECT"
}

func (d *Folder) ReadFile(name string) ([]byte, error) {
	path, err := d.path("read", name)
	if err != nil {
		return nil, err
	}
	c := d.content(name, path)
	return slices.Clone(c.data), c.err
}

// Contains reports whether a file has a text. It is faster than ReadFile, which returns a copy.
func (d *Folder) Contains(name string, text []byte) (bool, error) {
	path, err := d.path("read", name)
	if err != nil {
		return false, err
	}
	c := d.content(name, path)
	return bytes.Contains(c.data, text), c.err
}

// content returns the result of reading a file, and reads it if need be.
func (d *Folder) content(name, path string) *content {
	d.mu.Lock()
	c := d.read[name]
	if c == nil {
		c = &content{}
		d.read[name] = c
	}
	d.mu.Unlock()
	c.load(name, path, d.known)
	return c
}

// nameOf returns the name of an absolute path in a view of [Disk]. Is is false for other views, and for paths
// elsewhere.
func nameOf(view View, path string) (d *Folder, name string, is bool) {
	if d, is = view.(*Folder); !is {
		return nil, "", false
	}
	rel, err := filepath.Rel(d.root, path)
	name = filepath.ToSlash(rel)
	return d, name, err == nil && fs.ValidPath(name)
}

// ReadAt reads the file at an absolute path through a view of [Disk]. Is reports whether content is certain to be that
// of the file which info describes. It is false for other views and for files outside the project. A link that leads
// out of the repository is refused with [ErrOutside].
func ReadAt(view View, path string, info fs.FileInfo) (content []byte, is bool, err error) {
	d, name, is := nameOf(view, path)
	if !is {
		return nil, false, nil
	}
	if path, err = d.path("read", name); err != nil {
		return nil, false, err
	}
	c := d.content(name, path)
	return c.data, c.err == nil && c.id == safefs.IdentityOf(path, info), nil
}

// Kept returns the content of the file at an absolute path if the view has read it. Is reports whether it has, and
// whether the content is certain to be that of the file which info describes.
func Kept(view View, path string, info fs.FileInfo) (text []byte, is bool) {
	d, name, is := nameOf(view, path)
	if !is {
		return nil, false
	}
	kept, is := d.known.Load(name)
	if !is || kept.(*content).id != safefs.IdentityOf(path, info) {
		return nil, false
	}
	return kept.(*content).data, true
}

// Keep has the view show a text which its caller has just read in the file at an absolute path that info describes.
// Nothing changes the text from then on.
func Keep(view View, path string, info fs.FileInfo, text []byte) {
	d, name, is := nameOf(view, path)
	if !is {
		return
	}
	if _, err := d.path("read", name); err != nil {
		return
	}
	c := &content{is: true, data: text, raw: true}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.read[name] == nil {
		d.read[name] = c
		c.settle(name, path, info, d.known)
	}
}

// ReadPath is like [ReadAt], but reads from the disk if the view's content is not certain.
func ReadPath(view View, path string) ([]byte, error) {
	if info, err := os.Stat(path); err == nil {
		if text, is, err := ReadAt(view, path, info); is || err != nil {
			return text, err
		}
	}
	return safefs.ReadFile(path)
}

func (d *Folder) ReadDir(name string) ([]fs.DirEntry, error) {
	path, err := d.path("readdir", name)
	if err != nil {
		return nil, err
	}
	return os.ReadDir(path)
}

func (d *Folder) Stat(name string) (fs.FileInfo, error) {
	path, err := d.path("stat", name)
	if err != nil {
		return nil, err
	}
	return os.Stat(path)
}

// Open opens a folder or a file without keeping its content. [fs.ReadFile] and [fs.ReadDir] do not call it.
func (d *Folder) Open(name string) (fs.File, error) {
	path, err := d.path("open", name)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(path); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: safefs.ErrNoFile}
	}
	return os.Open(path)
}

// path returns the path of a name on disk. Except for stat and readdir, it refuses links out of the repository.
func (d *Folder) path(op, name string) (string, error) {
	if !fs.ValidPath(name) {
		return "", &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	path := filepath.Join(d.root, filepath.FromSlash(name))
	if op != "stat" && op != "readdir" && !d.inside(path) {
		return "", &fs.PathError{Op: op, Path: name, Err: ErrOutside}
	}
	return path, nil
}

// Exists reports whether a file or folder exists. An error means that this is unknown.
func Exists(view View, name string) (bool, error) {
	_, err := view.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
