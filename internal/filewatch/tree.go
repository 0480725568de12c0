package filewatch

import (
	"context"
	"errors"
	"hash/maphash"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/slipway-dev/slipway/internal/report"
)

const maxDepth = 64

// tree is what is known of the folders and their files.
type tree struct {
	options Options
	watcher *fsnotify.Watcher // nil when polling
	tops    map[Folder]string // what Options.Folders returned last → where it is
	folders map[string]*folder
	files   int             // known files of all folders
	dirty   map[string]bool // folders in which files may have changed since the batch before
	written map[string]bool // files that events of this batch were about
	lost    []string        // folders that may have gone for good
	seed    maphash.Seed
	began   bool
	failed  error           // before it began
	warned  map[string]bool // texts of warnings
}

// folder is what is known of a folder. Its key in tree.folders is where it is, without links at a top's path.
type folder struct {
	name    string // as the caller names it
	depth   int    // below one of Options.Folders
	below   bool   // it is watched with the folders below it
	first   bool   // it was just named by Options.Folders, so what is in it has not changed
	watched bool
	files   map[string]file
	folders map[string]bool
}

// file is what is known of a file. The zero value is one that did not matter when its folder was read.
type file struct {
	known    bool
	gone     bool // only in differences
	link     bool
	size     int64
	modified int64 // in nanoseconds since 1970
	hashed   bool
	hash     uint64
	again    time.Time // when to hash it once more: see timestamps
}

func newTree(options Options) *tree {
	return &tree{
		options: options, seed: maphash.MakeSeed(),
		tops: map[Folder]string{}, folders: map[string]*folder{},
		dirty: map[string]bool{}, written: map[string]bool{}, warned: map[string]bool{},
	}
}

// sync asks which folders to watch.
func (t *tree) sync(ctx context.Context) {
	wanted := map[Folder]string{}
	for _, top := range t.options.Folders() {
		if path, known := t.tops[top]; known {
			wanted[top] = path
		} else if path, err := filepath.EvalSymlinks(top.Path); err == nil {
			wanted[top] = path
		} else {
			wanted[top] = filepath.Clean(top.Path)
		}
	}
	before := t.tops
	t.tops = wanted
	for top, path := range before {
		if parent := t.folders[filepath.Dir(path)]; parent == nil || !parent.folders[filepath.Base(path)] {
			if _, still := wanted[top]; !still {
				t.forget(path)
			}
		}
	}
	for top, path := range wanted {
		if _, known := before[top]; known {
			continue
		}
		f := t.folders[path]
		if f == nil {
			f = t.add(path, top.Path, 0, top.Below, true)
		}
		if f != nil {
			f.below = f.below || top.Below
			t.glance(func(differences map[string]file) { t.look(ctx, path, true, differences) })
		}
	}
}

// glance looks before a batch ends, so as to watch new folders at once. What differs is looked at again then.
func (t *tree) glance(look func(differences map[string]file)) {
	differences := map[string]file{}
	look(differences)
	for path := range differences {
		t.dirty[filepath.Dir(path)] = true
	}
}

// add makes a folder known, unless there are too many.
func (t *tree) add(path, name string, depth int, below, first bool) *folder {
	if len(t.folders) >= t.options.MaxFolders || depth > maxDepth {
		t.warn("not all folders are watched: there are too many, or they are nested too deeply")
		return nil
	}
	f := &folder{name: name, depth: depth, below: below, first: first, files: map[string]file{}, folders: map[string]bool{}}
	t.folders[path] = f
	return f
}

// look compares a folder with what is known of it, and adds what differs to differences. It watches folders below it
// that were not watched, and looks at these, and with all at those that are.
func (t *tree) look(ctx context.Context, path string, all bool, differences map[string]file) {
	f := t.folders[path]
	if f == nil || ctx.Err() != nil {
		return
	}
	if !f.watched {
		t.watch(path, f) // first, so that nothing changes unnoticed after the folder was read
	}
	entries, err := os.ReadDir(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		t.gone(path, differences)
		f.first = false // what is in it when it comes has changed
		return
	case err != nil:
		f.watched, f.first = false, false
		t.unreadable(path, f, err)
		return
	}
	for _, entry := range entries {
		switch mode := entry.Type(); {
		case mode.IsDir() && f.below:
			t.lookBelow(ctx, path, entry.Name(), all, differences)
		case mode.IsRegular(), mode&fs.ModeSymlink != 0:
			t.compare(path, entry, differences)
		}
	}
	t.missing(path, entries, differences)
	f.first = false
}

// lookBelow looks at a folder below another one.
func (t *tree) lookBelow(ctx context.Context, parent, name string, all bool, differences map[string]file) {
	path, f := filepath.Join(parent, name), t.folders[parent]
	next, linked := t.folders[path], f.folders[name]
	if !linked {
		switch below := filepath.Join(f.name, name); {
		case t.options.Skip(below):
			return
		case next != nil: // one of Options.Folders
			next.below = true
		default:
			if next = t.add(path, below, f.depth+1, true, f.first); next == nil {
				return
			}
		}
		f.folders[name] = true
	}
	if all || !linked || !next.watched {
		t.look(ctx, path, all, differences)
	}
}

// compare compares a file with what is known of it.
func (t *tree) compare(dir string, entry fs.DirEntry, differences map[string]file) {
	f, name := t.folders[dir], entry.Name()
	path := filepath.Join(dir, name)
	old, listed := f.files[name]
	if !listed && t.files >= t.options.MaxFiles {
		t.warn("not all files are watched: there are too many")
		return
	}
	if !t.options.Matters(filepath.Join(f.name, name)) {
		t.keep(f, name, file{})
		return
	}
	info, err := entry.Info()
	if err != nil {
		return // it has gone since: there is an event, or the next poll finds it
	}
	now := file{known: true, link: entry.Type()&fs.ModeSymlink != 0, size: info.Size(), modified: info.ModTime().UnixNano()}
	switch {
	case !listed && f.first, listed && !old.known && !t.written[path]:
		t.keep(f, name, now)
	case !old.known, t.written[path], !old.same(now), !old.again.IsZero() && time.Now().After(old.again):
		differences[path] = now
	}
}

// same reports whether a file looks as it did.
func (f file) same(now file) bool {
	return f.link == now.link && f.size == now.size && f.modified == now.modified
}

// missing adds what is known of a folder and is not in it to differences.
func (t *tree) missing(path string, entries []fs.DirEntry, differences map[string]file) {
	f := t.folders[path]
	has := func(name string, folder bool) bool {
		i, found := slices.BinarySearchFunc(entries, name, func(e fs.DirEntry, name string) int { return strings.Compare(e.Name(), name) })
		return found && entries[i].IsDir() == folder
	}
	for name := range f.files {
		if !has(name, false) {
			differences[filepath.Join(path, name)] = file{gone: true}
		}
	}
	for name := range f.folders {
		if !has(name, true) {
			t.gone(filepath.Join(path, name), differences)
		}
	}
}

// gone adds the files of a folder that is no longer there, and of those below it, to differences. They stay known until
// the batch ends, for the folder may come back.
func (t *tree) gone(path string, differences map[string]file) {
	f := t.folders[path]
	t.unwatch(path, f)
	t.lost = append(t.lost, path)
	for name := range f.files {
		differences[filepath.Join(path, name)] = file{gone: true}
	}
	for name := range f.folders {
		t.gone(filepath.Join(path, name), differences)
	}
}

// keep makes a file known as it is now.
func (t *tree) keep(f *folder, name string, now file) {
	if _, listed := f.files[name]; !listed {
		t.files++
	}
	f.files[name] = now
}

// forget stops watching a folder and those below it, apart from those that are to be watched themselves.
func (t *tree) forget(path string) {
	f := t.folders[path]
	if f == nil || t.isTop(path) {
		return
	}
	t.unwatch(path, f)
	t.files -= len(f.files)
	delete(t.folders, path)
	for name := range f.folders {
		t.forget(filepath.Join(path, name))
	}
	if parent := t.folders[filepath.Dir(path)]; parent != nil {
		delete(parent.folders, filepath.Base(path))
	}
}

func (t *tree) isTop(path string) bool {
	for _, top := range t.tops {
		if top == path {
			return true
		}
	}
	return false
}

// watch has the operating system report what changes in a folder.
func (t *tree) watch(path string, f *folder) {
	f.watched = true
	if t.watcher == nil {
		return
	}
	if system := silent(path); system != "" {
		t.poll("the file system of " + f.name + ", " + system + ", does not report all changes")
		return
	}
	err := t.watcher.Add(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		f.watched = false // it cannot be read either
	} else if err != nil {
		t.poll(reason(err))
	}
}

func (t *tree) unwatch(path string, f *folder) {
	if f.watched && t.watcher != nil {
		_ = t.watcher.Remove(path) // it fails where the folder's end has ended the watch
	}
	f.watched = false
}

// leave stops watching a folder that was moved or removed, and those below it: the watches of a moved folder would
// report its files under their old names.
func (t *tree) leave(path string) {
	f := t.folders[path]
	t.unwatch(path, f)
	for name := range f.folders {
		t.leave(filepath.Join(path, name))
	}
}

// poll ends the use of events, if they were used.
func (t *tree) poll(why string) {
	t.close()
	t.options.Handler.Handle(report.Note{Text: "looking for changed files every " + t.options.Interval.String() + ": " + why})
}

// renew replaces the watcher and all its watches: after lost events, folders may be others under the same name.
func (t *tree) renew() {
	t.close()
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		t.poll(reason(err))
		return
	}
	t.watcher = watcher
	for _, f := range t.folders {
		f.watched = false
	}
}

func (t *tree) close() {
	if t.watcher != nil {
		t.watcher.Close()
		t.watcher = nil
	}
}

// reason says why there are no events.
func reason(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return "the limit of watches is reached (on Linux, fs.inotify.max_user_watches)"
	case errors.Is(err, syscall.EMFILE):
		return "the limit of open files or watchers is reached (on Linux, fs.inotify.max_user_instances)"
	}
	return "changes are not reported: " + err.Error()
}

func (t *tree) unreadable(path string, f *folder, err error) {
	if !t.began && f.depth == 0 {
		t.failed = &report.Error{What: "folder cannot be read", Where: f.name, Err: err}
		return
	}
	t.warn(path + " is not watched: " + err.Error())
}

// warn reports a warning once.
func (t *tree) warn(text string) {
	if !t.warned[text] {
		t.warned[text] = true
		t.options.Handler.Handle(report.Warning{Text: text})
	}
}
