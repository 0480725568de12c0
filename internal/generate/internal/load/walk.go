package load

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/sourcefolder"
)

// walker looks for the folders that a pattern with /... names.
type walker struct {
	loader   *Loader
	ctx      context.Context
	modcache string
	found    []folder
}

// folder is a place that may hold a package. Folders that the go command passes
// over are not listed, but nested modules inside of them are.
type folder struct {
	dir    string
	listed bool
	tree   *tree
}

// tree is the part of a walk that belongs to one module.
type tree struct {
	dir     string   // of its go.mod
	nested  bool     // it lies below the folder where the walk began
	ignored []string // by ignore directives: a path with slashes around it; one that begins with . is from dir on
}

// below returns the folders with Go files from start downwards: those of the module
// that start belongs to, then those of the modules in it, in the order of the paths
// of their go.mod files. With several copies of a module the first one counts, so
// the order matters.
func (l *Loader) below(ctx context.Context, start string) ([]folder, error) {
	w := walker{loader: l, ctx: ctx, modcache: l.env.modcache()}
	home := &tree{dir: l.env.findUp(start, "go.mod")}
	home.ignored = l.ignoredIn(home.dir)
	if err := w.walk(folder{dir: start, listed: true, tree: home}); err != nil {
		return nil, err
	}
	slices.SortStableFunc(w.found, func(a, b folder) int { return a.tree.compare(b.tree) })
	return w.found, nil
}

func (t *tree) compare(other *tree) int {
	switch {
	case t == other:
		return 0
	case !t.nested:
		return -1
	case !other.nested:
		return 1
	}
	return slices.Compare(goModParts(t.dir), goModParts(other.dir))
}

func goModParts(dir string) []string {
	return strings.Split(filepath.ToSlash(filepath.Join(dir, "go.mod")), "/")
}

// walk collects the listed folders with Go files from f downwards.
func (w *walker) walk(f folder) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	entries, err := w.loader.config.Inputs.ReadDir(f.dir)
	if err != nil {
		return &report.Error{What: "folder cannot be read", Where: f.dir, Err: err}
	}
	has := func(wanted func(name string) bool) bool {
		return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return !e.IsDir() && wanted(e.Name()) })
	}
	if f.dir != f.tree.dir && has(func(name string) bool { return name == "go.mod" }) {
		if w.isBroken(f.dir) {
			return nil
		}
		f.listed = true
		f.tree = &tree{dir: f.dir, nested: true, ignored: w.loader.ignoredIn(f.dir)}
	}
	if f.listed && has(isGoFile) {
		w.found = append(w.found, f)
	}
	for _, e := range entries {
		sub := folder{dir: filepath.Join(f.dir, e.Name()), tree: f.tree}
		if !e.IsDir() || w.holdsNoModule(sub) {
			continue
		}
		sub.listed = f.listed && !sourcefolder.PassedOverByGo(e.Name()) && !f.tree.ignores(sub.dir)
		if err := w.walk(sub); err != nil {
			return err
		}
	}
	return nil
}

// isBroken reports whether the module that begins in a folder below the user's own cannot be read, and adds a finding
// then: it may be an example or a test's input, and has no part in what else is there.
func (w *walker) isBroken(dir string) bool {
	name := filepath.Join(dir, "go.mod")
	_, err := w.loader.readModFile(name)
	if err == nil {
		return false
	}
	if why := errors.Unwrap(err); why != nil {
		err = why
	}
	w.loader.Report(report.Finding{Rule: report.RuleUnreadableFile, Position: report.Position{File: name, Line: 1}, Message: "go.mod cannot be read, and the module's code is passed over: " + err.Error()})
	return true
}

// holdsNoModule reports whether a folder is not worth a look, because there is no
// module of the user's in it: git's own files, the downloaded modules, and what
// go mod vendor has written.
func (w *walker) holdsNoModule(f folder) bool {
	switch name := filepath.Base(f.dir); {
	case name == ".git", sourcefolder.Downloaded(name):
		return true
	case name == "vendor":
		return filepath.Dir(f.dir) == f.tree.dir && w.loader.env.isFile(filepath.Join(f.dir, "modules.txt"))
	}
	return f.dir == w.modcache
}

// ignoredIn are the paths that the ignore directives of the go.mod in dir name. What
// is wrong with the file is told when a package of the module is found.
func (l *Loader) ignoredIn(dir string) []string {
	name := filepath.Join(dir, "go.mod")
	data, err := l.config.Inputs.ReadFile(name)
	if dir == "" || err != nil || !bytes.Contains(data, []byte("ignore")) {
		return nil
	}
	file, err := modfile.Parse(name, data, nil)
	if err != nil {
		return nil
	}
	var ignored []string
	for _, directive := range file.Ignore {
		path, fromHere := strings.CutPrefix(filepath.ToSlash(directive.Path), "./")
		path = "/" + strings.Trim(path, "/") + "/"
		if fromHere {
			path = "." + path
		}
		ignored = append(ignored, path)
	}
	return ignored
}

// ignores reports whether an ignore directive names the folder or one above it.
func (t *tree) ignores(dir string) bool {
	if len(t.ignored) == 0 {
		return false
	}
	path := "./" + filepath.ToSlash(strings.TrimPrefix(dir[len(t.dir):], string(filepath.Separator))) + "/"
	return slices.ContainsFunc(t.ignored, func(ignored string) bool {
		if ignored[0] == '.' {
			return strings.HasPrefix(path, ignored)
		}
		return strings.Contains(path, ignored)
	})
}
