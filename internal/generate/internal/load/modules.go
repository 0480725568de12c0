package load

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/shellword"
)

// completeSince is the go version from which a go.mod names every module that
// provides packages to the main module, so that no version needs to be selected.
const completeSince = "go1.17"

// modules knows where the packages of one main module, or of one workspace, are.
type modules struct {
	loader *Loader
	root   string // folder of go.mod or go.work
	work   string // go.work, or ""
	mains  []mainModule
	vendor string            // folder of vendored packages, or ""
	dirs   map[string]string // module path → folder, of the required modules

	replaced map[module.Version]location
	excluded map[module.Version]bool

	mu     sync.Mutex
	found  map[string]string // import path → folder
	nested map[string]bool   // folder → it has a go.mod
	list   sync.Once
	asked  map[string]string // module path → folder, by the go command
}

type mainModule struct{ path, dir string }

// ErrNoModule says that a folder is in no Go module.
var ErrNoModule = errors.New("no go.mod in this folder or above it")

// modulesFor returns the modules that the packages in dir see.
func (l *Loader) modulesFor(dir string) (*modules, error) {
	modDir := l.env.findUp(dir, "go.mod")
	if modDir == "" {
		return nil, &report.Error{Class: report.BadProject, What: "not in a Go module", Where: dir, Err: ErrNoModule, Next: "go mod init <module path>"}
	}
	root, work := modDir, l.env.workFileFor(modDir)
	if work != "" {
		root = filepath.Dir(work)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.modules[root]
	if m == nil {
		var err error
		if m, err = l.readModules(modDir, work); err != nil {
			return nil, err
		}
		l.modules[root] = m
	}
	if !slices.ContainsFunc(m.mains, func(main mainModule) bool { return main.dir == modDir }) {
		return nil, &report.Error{Class: report.BadProject, What: "this module is not in the workspace", Where: modDir, Hint: "expected in " + work, Next: "go work use " + shellword.Quote(modDir)}
	}
	return m, nil
}

// findUp returns the nearest folder from dir upwards that holds a file called
// name, or "".
func (e *environment) findUp(dir, name string) string {
	for {
		if e.isFile(filepath.Join(dir, name)) {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

// workFileFor is the go.work file in force for the module in dir, or "".
func (e *environment) workFileFor(dir string) string {
	switch work := e.get("GOWORK"); work {
	case "off":
		return ""
	case "":
		if dir := e.findUp(dir, "go.work"); dir != "" {
			return filepath.Join(dir, "go.work")
		}
		return ""
	default:
		return work
	}
}

func (l *Loader) readModules(modDir, work string) (*modules, error) {
	m := &modules{
		loader: l, root: modDir, dirs: make(map[string]string), found: make(map[string]string), nested: make(map[string]bool),
		replaced: make(map[module.Version]location), excluded: make(map[module.Version]bool),
	}
	if work != "" {
		return m, m.readWorkspace(work)
	}
	file, err := l.readModFile(l.modFileOf(modDir))
	if err != nil {
		return nil, err
	}
	m.add(file, modDir)
	if m.useVendor(file.Go, false); m.vendor != "" {
		return m, nil
	}
	if isComplete(file) {
		for _, r := range file.Require {
			m.use(r.Mod)
		}
		return m, nil
	}
	m.useSelected([]*modfile.File{file})
	return m, nil
}

// add adds a module that is worked on.
func (m *modules) add(file *modfile.File, dir string) {
	m.mains = append(m.mains, mainModule{file.Module.Mod.Path, dir})
	m.replace(file.Replace, dir)
	for _, e := range file.Exclude {
		m.excluded[e.Mod] = true
	}
}

// useSelected finds out which versions are in use of the modules that the go.mod files require, and where they are.
func (m *modules) useSelected(files []*modfile.File) {
	selected, ok := m.selectVersions(files)
	if !ok {
		if m.askGo("go.mod files of modules are not in the module cache"); len(m.asked) > 0 {
			return
		}
	}
	for path, version := range selected {
		m.use(module.Version{Path: path, Version: version})
	}
}

// modFileOf is the file that stands for the go.mod in dir, which a flag may say.
func (l *Loader) modFileOf(dir string) string {
	name := l.env.flag("modfile")
	switch {
	case name == "":
		return filepath.Join(dir, "go.mod")
	case filepath.IsAbs(name):
		return name
	}
	return filepath.Join(l.config.Dir, name)
}

func (l *Loader) readModFile(name string) (*modfile.File, error) {
	data, err := l.config.Inputs.ReadFile(name)
	if err != nil {
		return nil, &report.Error{Class: report.BadProject, What: "go.mod cannot be read", Where: name, Err: err}
	}
	file, err := modfile.ParseLax(name, data, nil)
	if err == nil && file.Module == nil {
		err = errors.New("no module directive")
	}
	if err == nil {
		// ParseLax passes over replace; the strict parser fails on what is newer than it.
		if strict, strictErr := modfile.Parse(name, data, nil); strictErr == nil {
			file = strict
		} else {
			err = strictErr
		}
	}
	if err != nil {
		return nil, &report.Error{Class: report.BadProject, What: "go.mod cannot be read", Where: name, Err: err, Next: "go mod edit -fmt"}
	}
	return file, nil
}

func isComplete(file *modfile.File) bool {
	return isGoAtLeast(file.Go, completeSince)
}

// useVendor turns to the vendor folder where the go command would: by itself only to one that was written for a
// workspace in a workspace, and for a module outside of one.
func (m *modules) useVendor(directive *modfile.Go, inWorkspace bool) {
	dir, name := filepath.Join(m.root, "vendor"), m.vendorList()
	if !m.loader.env.isFile(name) {
		return
	}
	switch m.loader.env.flag("mod") {
	case "vendor":
		m.vendor = dir
	case "":
		if isGoAtLeast(directive, "go1.14") && m.loader.isForWorkspace(name) == inWorkspace {
			m.vendor = dir
		}
	}
}

// vendorList is the file that lists the vendored packages.
func (m *modules) vendorList() string { return filepath.Join(m.root, "vendor", "modules.txt") }

// isForWorkspace tells from the first line of a vendor/modules.txt whether go work vendor has written it.
func (l *Loader) isForWorkspace(name string) bool {
	data, err := l.config.Inputs.ReadFile(name)
	if err != nil {
		return false
	}
	line, _, _ := strings.Cut(string(data), "\n")
	annotations, _ := strings.CutPrefix(line, "## ")
	return annotations != line && slices.ContainsFunc(strings.Split(annotations, ";"), func(a string) bool { return strings.TrimSpace(a) == "workspace" })
}

// replace takes note of replacements in a file in dir.
func (m *modules) replace(replaces []*modfile.Replace, dir string) {
	for _, replace := range replaces {
		to := location{mod: replace.New}
		if replace.New.Version == "" {
			to = location{dir: filepath.FromSlash(replace.New.Path)}
			if !filepath.IsAbs(to.dir) {
				to.dir = filepath.Join(dir, to.dir)
			}
		}
		m.replaced[replace.Old] = to
	}
}

// location is a folder, or a module in the cache.
type location struct {
	dir string
	mod module.Version
}

// location is where a version of a module is, or what replaces it.
func (m *modules) location(mod module.Version) location {
	if to, ok := m.replaced[mod]; ok {
		return to
	}
	if to, ok := m.replaced[module.Version{Path: mod.Path}]; ok {
		return to
	}
	return location{mod: mod}
}

// use has packages found in a version of a module.
func (m *modules) use(mod module.Version) {
	at := m.location(mod)
	if at.dir == "" {
		at.dir = m.cached(at.mod)
	}
	if at.dir != "" {
		m.dirs[mod.Path] = at.dir
	}
}

// cached is the folder of a downloaded module; "" when its name is malformed.
func (m *modules) cached(mod module.Version) string {
	escapedPath, err := module.EscapePath(mod.Path)
	if err != nil {
		return ""
	}
	version, err := module.EscapeVersion(mod.Version)
	if err != nil {
		return ""
	}
	return filepath.Join(m.loader.env.modcache(), filepath.FromSlash(escapedPath)+"@"+version)
}

// dir returns the folder of the package with the import path. What the files
// do not tell, the go command is asked for.
func (m *modules) dir(importPath string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if dir, ok := m.found[importPath]; ok {
		return dir, nil
	}
	dir := m.search(importPath)
	if dir == "" {
		m.askGo(fmt.Sprintf("package %s is not in the module that go.mod requires", importPath))
		dir = m.within(m.asked, importPath)
	}
	if dir == "" {
		m.noteMissing(importPath)
		return "", fmt.Errorf("package %s: %w", importPath, fs.ErrNotExist)
	}
	m.found[importPath] = dir
	return dir, nil
}

func (m *modules) search(importPath string) string {
	mains := make(map[string]string, len(m.mains))
	for _, main := range m.mains {
		mains[main.path] = main.dir
	}
	for _, dirs := range []map[string]string{mains, m.dirs, m.asked} {
		if dir := m.within(dirs, importPath); dir != "" {
			return dir
		}
	}
	if m.vendor != "" {
		if dir := filepath.Join(m.vendor, filepath.FromSlash(importPath)); m.loader.hasGoFiles(dir) {
			return dir
		}
	}
	return m.standard(importPath)
}

// within finds the package in the module with the longest path that has it.
func (m *modules) within(dirs map[string]string, importPath string) string {
	for prefix := importPath; prefix != "." && prefix != "/"; prefix = path.Dir(prefix) {
		root, ok := dirs[prefix]
		if !ok {
			continue
		}
		dir := filepath.Join(root, filepath.FromSlash(strings.TrimPrefix(importPath[len(prefix):], "/")))
		if m.loader.hasGoFiles(dir) && !m.hasModuleBetween(root, dir) {
			return dir
		}
	}
	return ""
}

// hasModuleBetween reports whether dir, or a folder between it and root, is a module
// of its own, so that its packages are not those of the module in root. Downloaded
// modules have none inside.
func (m *modules) hasModuleBetween(root, dir string) bool {
	if isBelow(root, m.loader.env.modcache()) {
		return false
	}
	for ; dir != root && isBelow(dir, root); dir = filepath.Dir(dir) {
		nested, known := m.nested[dir]
		if !known {
			nested = m.loader.env.isFile(filepath.Join(dir, "go.mod"))
			m.nested[dir] = nested
		}
		if nested {
			return true
		}
	}
	return false
}

// standard finds a package of the standard library, whose paths have no dot in
// their first part except for what it vendors itself.
func (m *modules) standard(importPath string) string {
	src := filepath.Join(m.loader.env.goroot(), "src")
	first, _, _ := strings.Cut(importPath, "/")
	if strings.Contains(first, ".") {
		src = filepath.Join(src, "vendor")
	}
	if dir := filepath.Join(src, filepath.FromSlash(importPath)); m.loader.hasGoFiles(dir) {
		return dir
	}
	return ""
}

func (l *Loader) hasGoFiles(dir string) bool {
	names, err := goFileNames(l.inputsAt(dir), dir)
	return err == nil && len(names) > 0
}

// importPathOf is the import path of a folder of one of the main modules, or "".
func (m *modules) importPathOf(dir string) string {
	best := ""
	bestDir := ""
	for _, main := range m.mains {
		rel, err := filepath.Rel(main.dir, dir)
		if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) || len(main.dir) < len(bestDir) {
			continue
		}
		best, bestDir = path.Join(main.path, filepath.ToSlash(rel)), main.dir
	}
	return best
}
