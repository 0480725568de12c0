package typecheck

import (
	"fmt"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/gocommand"
	"github.com/slipway-dev/slipway/internal/safefs"
	"github.com/slipway-dev/slipway/internal/sourcefolder"
)

// A root is a module that is read from source: it may change without a new version.
type root struct {
	path      string // module path
	dir       string // folder in the view
	view      fileview.View
	shown     string // prefix of its file names in messages
	goVersion string // its Go version, such as "go1.25.0"
	inner     bool   // view is the project's
}

// moduleSources is a module of the project and the modules that replace directives or go.work take from folders.
type moduleSources struct {
	change        Change
	dir           string // the module's folder in the project
	roots         []root // the module itself comes first
	required      []string
	versionInputs []string // contents that decide the versions of modules, as of go.mod and go.sum
	work          string   // path of go.work, or ""
	settings      settings
	packages      map[string]*pkg
	files         *token.FileSet
	left          int // bytes that may still be read; links can name one file many times
	constantBytes int // bytes that references to constants stand for so far
}

// maxSource bounds the size of all files of a check, in bytes.
const maxSource = 256 << 20

// read finds the modules that are read from source for the module in dir.
func (c Change) read(view fileview.View, dir string) (*moduleSources, error) {
	k := &moduleSources{change: c, dir: dir, packages: map[string]*pkg{}, files: token.NewFileSet(), left: maxSource}
	mod, err := k.addModule(root{dir: dir, view: view, inner: true})
	if err != nil {
		return nil, err
	}
	for _, r := range mod.Require {
		k.required = append(k.required, r.Mod.Path)
	}
	if err := k.addFolders(view, filepath.Join(c.Root, filepath.FromSlash(dir)), mod.Replace); err != nil {
		return nil, err
	}
	if k.work = gocommand.Workspace(filepath.Join(c.Root, filepath.FromSlash(dir)), c.Environ); k.work == "" {
		return k, nil
	}
	return k, k.addWorkspace(view)
}

func (k *moduleSources) addModule(r root) (*modfile.File, error) {
	name := path.Join(r.dir, "go.mod")
	text, err := r.view.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("%sgo.mod cannot be read: %w", r.shown, err)
	}
	mod, err := modfile.ParseLax(r.shown+name, text, nil)
	if len(k.roots) == 0 && err == nil {
		mod, err = modfile.Parse(r.shown+name, text, nil)
	}
	if err != nil { // its text may quote the file, which may be a link to a secret
		return nil, fmt.Errorf("%s%s: %w", r.shown, name, errInvalid)
	}
	if mod.Module == nil {
		return nil, fmt.Errorf("%s%s: %w", r.shown, name, errNoName)
	}
	if r.path == "" {
		r.path = mod.Module.Mod.Path
	}
	if mod.Go != nil {
		r.goVersion = "go" + mod.Go.Version
	}
	if slices.ContainsFunc(k.roots, func(other root) bool { return other.path == r.path }) {
		return mod, nil
	}
	k.roots = append(k.roots, r)
	lines := strings.SplitAfter(string(text), "\n")
	lines[mod.Module.Syntax.Start.Line-1] = "" // packages of other modules do not depend on it
	k.versionInputs = append(k.versionInputs, strings.Join(lines, ""))
	for _, beside := range []string{"go.sum", "vendor/modules.txt"} {
		text, _ := r.view.ReadFile(path.Join(r.dir, beside)) // a missing file counts as empty
		k.versionInputs = append(k.versionInputs, string(text))
	}
	return mod, nil
}

// addFolders adds the modules that folders replace. Base is the folder that their paths are relative to.
func (k *moduleSources) addFolders(view fileview.View, base string, replaced []*modfile.Replace) error {
	for _, r := range replaced {
		if r.New.Version != "" {
			continue
		}
		if _, err := k.addModule(k.rootAt(view, base, r.New.Path, r.Old.Path)); err != nil {
			return err
		}
	}
	return nil
}

// rootAt returns the module in a folder, which may be outside the project.
func (k *moduleSources) rootAt(view fileview.View, base, folder, path string) root {
	folder = filepath.FromSlash(folder)
	if !filepath.IsAbs(folder) {
		folder = filepath.Join(base, folder)
	}
	if rel, err := filepath.Rel(k.change.Root, folder); err == nil && filepath.IsLocal(rel) {
		return root{path: path, dir: filepath.ToSlash(rel), view: view, inner: true}
	}
	return root{path: path, dir: ".", view: fileview.Disk(folder), shown: filepath.ToSlash(folder) + "/"}
}

func (k *moduleSources) addWorkspace(view fileview.View) error {
	text, err := safefs.ReadFile(k.work)
	if err != nil {
		return err
	}
	file, err := modfile.ParseWork(k.work, text, nil)
	if err != nil {
		return fmt.Errorf("%s: %w", k.work, errInvalid)
	}
	sums, _ := safefs.ReadFile(k.work + ".sum") // a missing file counts as empty
	k.versionInputs = append(k.versionInputs, string(text), string(sums))
	base := filepath.Dir(k.work)
	for _, use := range file.Use {
		mod, err := k.addModule(k.rootAt(view, base, use.Path, ""))
		if err != nil {
			return err
		}
		for _, r := range mod.Require {
			k.required = append(k.required, r.Mod.Path)
		}
	}
	return k.addFolders(view, base, file.Replace)
}

// rootOf returns the module that a package belongs to by its path, and its folder there. It returns nil for a module
// that is not read from source.
func (k *moduleSources) rootOf(importPath string) (r *root, dir string) {
	for i, other := range k.roots {
		rest, in := strings.CutPrefix(importPath+"/", other.path+"/")
		if in && (r == nil || len(other.path) > len(r.path)) {
			r, dir = &k.roots[i], path.Join(other.dir, rest)
		}
	}
	return r, dir
}

// isMissing reports whether a package can only be in a module that is read from source. If load finds none, it does not
// exist.
func (k *moduleSources) isMissing(importPath string) bool {
	r, _ := k.rootOf(importPath)
	return r != nil && !slices.ContainsFunc(k.required, func(module string) bool {
		return len(module) > len(r.path) && strings.HasPrefix(importPath+"/", module+"/")
	})
}

// load returns a package of a module that is read from source, or nil if there are no Go files.
func (k *moduleSources) load(importPath string) *pkg {
	if p, known := k.packages[importPath]; known {
		return p
	}
	r, dir := k.rootOf(importPath)
	var p *pkg
	if r != nil {
		p = k.readPackage(importPath, r, dir)
	}
	k.packages[importPath] = p
	return p
}

// reached returns the packages of the module that a change to files may break: those with the files, and all that
// import them.
func (k *moduleSources) reached(files []string) ([]string, error) {
	changed, reached := map[string]bool{}, map[string]bool{}
	for _, file := range files {
		importPath, ok := k.packageAt(path.Dir(file))
		if !ok || !strings.HasSuffix(file, ".go") {
			continue
		}
		reached[importPath] = true
		changed[importPath] = changed[importPath] || !strings.HasSuffix(file, "_test.go")
	}
	if len(reached) == 0 {
		return nil, nil
	}
	all, err := k.all()
	if err != nil {
		return nil, err
	}
	for again := true; again; {
		again = false
		for _, p := range all {
			if !changed[p.path] && p.imports(changed, false) {
				changed[p.path], again = true, true
			}
			reached[p.path] = reached[p.path] || changed[p.path] || p.imports(changed, true)
		}
	}
	var paths []string
	for _, p := range all {
		if reached[p.path] {
			paths = append(paths, p.path)
		}
	}
	return paths, nil
}

// reaches reports whether from is to, or imports it directly or not. It follows packages that are read from source.
func (k *moduleSources) reaches(from, to string) bool {
	seen := map[string]bool{}
	var visit func(importPath string) bool
	visit = func(importPath string) bool {
		if importPath == to || seen[importPath] {
			return importPath == to
		}
		seen[importPath] = true
		p := k.load(importPath)
		return p != nil && slices.ContainsFunc(p.files, func(f *file) bool { return !f.test && slices.ContainsFunc(f.imports, visit) })
	}
	return visit(from)
}

// packageAt returns the import path of a folder of the project.
func (k *moduleSources) packageAt(dir string) (importPath string, ok bool) {
	longest := -1
	for _, r := range k.roots {
		rest, in := strings.CutPrefix(dir+"/", r.dir+"/")
		if r.dir == "." {
			rest, in = dir, true
		}
		if r.inner && in && len(r.dir) > longest {
			importPath, longest = path.Join(r.path, rest), len(r.dir)
		}
	}
	return importPath, longest >= 0
}

// all returns the packages of the module.
func (k *moduleSources) all() (packages []*pkg, err error) {
	r := k.roots[0]
	var walk func(dir string) error
	walk = func(dir string) error {
		entries, err := r.view.ReadDir(dir)
		if err != nil {
			return err
		}
		if dir != r.dir && slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == "go.mod" && !e.IsDir() }) {
			return nil // another module
		}
		if importPath, ok := k.packageAt(dir); ok {
			if p := k.load(importPath); p != nil {
				packages = append(packages, p)
			}
		}
		for _, e := range entries {
			if e.IsDir() && !sourcefolder.WithoutCode(e.Name()) {
				if err := walk(path.Join(dir, e.Name())); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return packages, walk(r.dir)
}

// isPackage reports whether an import path names a single package. The go command would take ./cmd or all for packages
// of the project and build them.
func isPackage(importPath string) bool {
	return module.CheckImportPath(importPath) == nil && !strings.HasSuffix(importPath, ".go") &&
		!slices.Contains([]string{"all", "cmd", "std", "tool", "work"}, importPath)
}

// external returns the packages that must come from export data to check these packages.
func (k *moduleSources) external(paths []string) (external []string) {
	seen := map[string]bool{"unsafe": true, "C": true}
	var visit func(importPath string, tests bool)
	visit = func(importPath string, tests bool) {
		if seen[importPath] && !tests {
			return
		}
		seen[importPath] = true
		p := k.load(importPath)
		if p == nil {
			if !k.isMissing(importPath) && isPackage(importPath) {
				external = append(external, importPath)
			}
			return
		}
		for _, f := range p.parsed() {
			for _, imported := range f.imports {
				if tests || !f.test {
					visit(imported, false)
				}
			}
		}
	}
	for _, path := range paths {
		visit(path, true)
	}
	slices.Sort(external)
	return slices.Compact(external)
}
