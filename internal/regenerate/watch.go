package regenerate

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/sourcefolder"
)

// quiet is how long files must stay unchanged before a change counts: editors and git write several files at once.
const quiet = 100 * time.Millisecond

// Watch calls changed whenever files of the project that a generator may read have changed, until ctx ends. Headers
// returns the header files that generators read. It is called again after each change, since the Makefile may name
// others. Ready is called once all folders are watched. All calls are in the caller's goroutine. Files that change
// while changed runs, such as its output, cause another call.
func Watch(ctx context.Context, root string, headers func() []string, ready, changed func()) error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return &report.Error{What: "files cannot be watched", Where: root, Err: err, Hint: "on Linux, fs.inotify.max_user_instances may be too low"}
	}
	defer watcher.Close()
	if real, err := filepath.EvalSymlinks(root); err == nil {
		root = real // a walk does not follow a link at its root
	}
	w := &watch{root: root, watcher: watcher, headers: headers()}
	if err := w.add(root); err != nil {
		return err
	}
	ready()
	return w.loop(ctx, func() {
		changed()
		w.headers = headers()
	})
}

type watch struct {
	root    string
	watcher *fsnotify.Watcher
	headers []string // relative to root
}

// loop calls changed after each burst of changes.
func (w *watch) loop(ctx context.Context, changed func()) error {
	rest := time.NewTimer(quiet)
	rest.Stop()
	defer rest.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-rest.C:
			changed()
		case event := <-w.watcher.Events:
			matters, err := w.see(event)
			if err != nil {
				return err
			}
			if matters {
				rest.Reset(quiet)
			}
		case err := <-w.watcher.Errors:
			if !errors.Is(err, fsnotify.ErrEventOverflow) {
				return &report.Error{What: "files cannot be watched any longer", Where: w.root, Err: err}
			}
			rest.Reset(quiet) // events were lost
		}
	}
}

// see handles an event. It watches a new folder; files may be in it already.
func (w *watch) see(event fsnotify.Event) (matters bool, err error) {
	if event.Op == fsnotify.Chmod {
		return false, nil
	}
	if event.Has(fsnotify.Create) {
		if err := w.add(event.Name); err != nil {
			return false, err
		}
	}
	return w.read(event.Name), nil
}

// read reports whether a generator may read a file, or files in a folder of that name.
func (w *watch) read(file string) bool {
	name := filepath.Base(file)
	switch {
	case skipped(name):
		return false
	case strings.HasSuffix(name, ".go"):
		return !strings.HasSuffix(name, "_test.go")
	case filepath.Ext(name) == "":
		return true // Makefile, PROJECT, or a folder that was added or removed
	}
	return slices.Contains([]string{"go.mod", "go.sum", "go.work", path.Base(codebase.HeaderFile)}, name) ||
		slices.ContainsFunc(w.headers, func(header string) bool { return path.Base(header) == name })
}

// add watches a folder and those below it. It ignores files, and paths that no longer exist.
func (w *watch) add(path string) error {
	return filepath.WalkDir(path, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return &report.Error{What: "folder cannot be read", Where: path, Err: err}
		case !entry.IsDir():
			return nil
		case path != w.root && skipped(entry.Name()):
			return filepath.SkipDir
		}
		if err := w.watcher.Add(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return &report.Error{What: "folder cannot be watched", Where: path, Err: err, Hint: "on Linux, fs.inotify.max_user_watches may be too low"}
		}
		return nil
	})
}

// skipped reports whether to skip a folder: it has no code, or holds the Makefile's tools, which change often.
func skipped(name string) bool { return sourcefolder.WithoutCode(name) || name == "bin" }
