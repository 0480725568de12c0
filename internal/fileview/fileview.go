// Package fileview reads a project's files by their names in it, each file once.
//
//	view := fileview.Disk(root)
//	text, err := view.ReadFile("Makefile")
//
// What reads a project takes a [View], so that it can be shown the files as a planned change would leave them.
package fileview

import (
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

// A View is the files of a project. Names are those of [fs.ValidPath], relative to the project's folder.
type View interface {
	fs.ReadFileFS
	fs.ReadDirFS
	fs.StatFS
}

// Disk is the view of the files below a folder, as they are on disk when each is first read. It keeps their contents.
// Links are followed within the project's repository: files elsewhere, such as the user's, and what git keeps, would
// get into images and messages. A file without an end is refused as [safefs.ReadFile] does.
func Disk(root string) *Folder {
	return &Folder{root: root, read: make(map[string]*content), places: make(map[string]string), known: new(sync.Map)}
}

// ErrOutside is why a link is not followed.
var ErrOutside = errors.New("a link leads out of the repository")

// repository is the folder that links may lead to: the nearest one with a .git, from a folder upwards, but for the
// user's own, or else the folder. It has no links in its name.
func repository(root string) string {
	root, err := filepath.EvalSymlinks(root)
	if err != nil {
		return ""
	}
	home, _ := os.UserHomeDir() // without one none is left out
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

// Root is the folder on disk.
func (d *Folder) Root() string { return d.root }

// inside reports whether a path leads to a file of the repository. One that leads nowhere does.
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

// place is a path without links. Folders are looked at once.
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

// Renewed is a folder as its files are now. What this one or another that was renewed from the same has read is read
// again only if the file is another one, or was so new that its times do not show it.
func (d *Folder) Renewed() *Folder {
	return &Folder{root: d.root, read: make(map[string]*content), places: make(map[string]string), known: d.known}
}

// A Folder is a project's files on disk; see [Disk].
type Folder struct {
	root string
	once sync.Once
	// repository is the folder that links may lead to.
	repository string
	mu         sync.Mutex
	read       map[string]*content
	places     map[string]string // of folders, without links
	known      *sync.Map         // by name, the last *content that has an id
}

// content is the result of reading a file.
type content struct {
	mu   sync.Mutex
	is   bool // it was read
	data []byte
	err  error
	id   string // of the file, where a later one has another; see [safefs.Identity]
}

// settled is the age from which a file's times show every later change.
const settled = 3 * time.Second

// load reads the file of a name once, unless it is one that is known.
func (c *content) load(name, path string, known *sync.Map) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.is {
		return
	}
	c.is = true
	info, err := os.Stat(path)
	if err == nil {
		if earlier, is := known.Load(name); is && earlier.(*content).id == safefs.IdentityOf(path, info) {
			c.data, c.id = earlier.(*content).data, earlier.(*content).id
			return
		}
	}
	c.data, c.err = safefs.ReadFile(path)
	if c.err == nil && isYAML(path) {
		if err := yamlsize.Nesting(c.data); err != nil {
			c.data, c.err = nil, &fs.PathError{Op: "read", Path: path, Err: err}
		}
	}
	if err == nil && c.err == nil && time.Since(info.ModTime()) > settled {
		c.id = safefs.IdentityOf(path, info)
		known.Store(name, c)
	}
}

// isYAML reports whether a file is one of YAML by its name. Whatever reads such a file, it is nested within the limits
// of package yamlsize: it may be a stranger's.
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

// content is that of a file, which is read if need be.
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

// ReadAt reads the file at an absolute path through a view of [Disk], where it is in the project and one whose content
// the view has, or gets now, for certain: that of the file which info describes. A link that leads out of the
// repository is refused with [ErrOutside].
func ReadAt(view View, path string, info fs.FileInfo) (content []byte, is bool, err error) {
	d, is := view.(*Folder)
	if !is {
		return nil, false, nil
	}
	rel, err := filepath.Rel(d.root, path)
	name := filepath.ToSlash(rel)
	if err != nil || !fs.ValidPath(name) {
		return nil, false, nil
	}
	if path, err = d.path("read", name); err != nil {
		return nil, false, err
	}
	c := d.content(name, path)
	return c.data, c.err == nil && c.id == safefs.IdentityOf(path, info), nil
}

// ReadPath reads the file at an absolute path, as [ReadAt] does where that is certain, and else from the disk.
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

// Open opens a folder, or a file without keeping its content: [fs.ReadFile] and the like do not need it.
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

// path returns the place of a file on disk. A name that leads out of the project has none.
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

// Exists reports whether a file or folder is there.
func Exists(view View, name string) (bool, error) {
	_, err := view.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
