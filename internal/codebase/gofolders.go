package codebase

import (
	"bytes"
	"errors"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/sourcefolder"
)

// A goFolder is a folder with Go files of the project.
type goFolder struct {
	dir    string   // with slashes; "." is the project's own
	module string   // the folder in which its module begins
	files  []string // names, without tests
	tests  []string // names of tests
}

// mostFiles bounds how many Go files are looked at.
const mostFiles = 50_000

// goWalk looks for the Go files of a project.
type goWalk struct {
	view   fs.ReadDirFS
	enters func(dir string) bool // a folder in which another module begins
	found  []goFolder
	files  int
}

// GoFiles are the Go files of the project, without tests: see [Codebase.Kinds] for the error.
func (c *Codebase) GoFiles() (names []string, err error) {
	folders, err := c.folders()
	for _, folder := range folders {
		for _, name := range folder.files {
			names = append(names, path.Join(folder.dir, name))
		}
	}
	return names, err
}

// FirstLine is the place of the first line of the project's code that matches, "file:line"; "" if none does.
func (c *Codebase) FirstLine(match *regexp.Regexp) (string, error) {
	files, err := c.GoFiles()
	for _, name := range files {
		text, err := c.view.ReadFile(name)
		if at := match.FindIndex(text); at != nil && err == nil {
			return report.Position{File: name, Line: 1 + bytes.Count(text[:at[0]], []byte("\n"))}.String(), nil
		}
	}
	return "", err
}

// readFolders are the folders with Go code of the project, by name: of its module and of those below that belong to it,
// since go.mod requires them or PROJECT has types there. Other modules below are examples or tools, and
// downloaded ones are not the project's. A folder that cannot be read has no code.
func (c *Codebase) readFolders() ([]goFolder, error) {
	types, required := c.listed(), c.required()
	w := goWalk{view: c.view, enters: func(dir string) bool {
		return types.below(dir) || slices.Contains(required, c.moduleIn(dir))
	}}
	entries, err := c.view.ReadDir(".")
	if err != nil {
		return nil, &report.Error{What: "the project's folder cannot be read", Where: ".", Err: err}
	}
	w.walk(".", ".", entries)
	return w.found, nil
}

func (w *goWalk) walk(module, dir string, entries []fs.DirEntry) {
	folder := goFolder{dir: dir, module: module}
	for _, e := range entries {
		switch {
		case !isCode(e) || w.files >= mostFiles:
			continue
		case strings.HasSuffix(e.Name(), "_test.go"):
			folder.tests = append(folder.tests, e.Name())
		default:
			folder.files = append(folder.files, e.Name())
		}
		w.files++
	}
	if len(folder.files)+len(folder.tests) > 0 {
		w.found = append(w.found, folder)
	}
	for _, e := range entries {
		if !e.IsDir() || sourcefolder.WithoutCode(e.Name()) || w.files >= mostFiles {
			continue
		}
		sub := path.Join(dir, e.Name())
		below, err := w.view.ReadDir(sub)
		begins := slices.ContainsFunc(below, isModuleFile)
		switch {
		case err != nil || begins && !w.enters(sub):
		case begins:
			w.walk(sub, sub, below)
		default:
			w.walk(module, sub, below)
		}
	}
}

// isCode reports whether a file is Go code that the go command builds, or a test.
func isCode(e fs.DirEntry) bool {
	name := e.Name()
	return strings.HasSuffix(name, ".go") && name[0] != '_' && name[0] != '.' && !e.IsDir()
}

func isModuleFile(e fs.DirEntry) bool { return e.Name() == "go.mod" && !e.IsDir() }

// modulePath is the path of the project's module, or "".
func (c *Codebase) modulePath() string { return c.moduleIn(".") }

// moduleIn is the path of the module that begins in a folder, or "".
func (c *Codebase) moduleIn(dir string) string {
	data, err := c.view.ReadFile(path.Join(dir, "go.mod"))
	if err != nil {
		return ""
	}
	return modfile.ModulePath(data)
}

// NestedModule is the folder of the module nested in the project's that a folder is in; "" when it is in the project's.
func (c *Codebase) NestedModule(dir string) string {
	for at := path.Clean(dir); at != "." && fs.ValidPath(at); at = path.Dir(at) {
		if c.moduleIn(at) != "" {
			return at
		}
	}
	return ""
}

// ImportPath is the import path of a folder: that of the module that it is in, which may be nested in the project's of
// the path repo, and the way from there.
func (c *Codebase) ImportPath(repo, dir string) string {
	if at := c.NestedModule(dir); at != "" {
		return path.Join(c.moduleIn(at), strings.TrimPrefix(dir, at))
	}
	return path.Join(repo, dir)
}

// required are the paths of the modules that the project's go.mod requires. A go.mod with a mistake requires none.
func (c *Codebase) required() (paths []string) {
	for _, r := range c.requirements() {
		paths = append(paths, r.Mod.Path)
	}
	return paths
}

// Required is the version of a module that the project's go.mod requires, as it is there; "" for one that it does not.
func (c *Codebase) Required(module string) string {
	for _, r := range c.requirements() {
		if r.Mod.Path == module {
			return r.Mod.Version
		}
	}
	return ""
}

func (c *Codebase) requirements() []*modfile.Require {
	data, err := c.view.ReadFile("go.mod")
	if err != nil {
		return nil
	}
	file, err := modfile.ParseLax("go.mod", data, nil)
	if err != nil {
		return nil
	}
	return file.Require
}

// Outside is the first Go file below the project's folder that is a link out of the repository, or "": what quotes
// code, as compilers do, would print pieces of a file that is not the project's.
func (c *Codebase) Outside() (string, error) {
	files, _, err := c.Sources()
	for _, name := range files {
		f, err := c.view.Open(name)
		if errors.Is(err, fileview.ErrOutside) {
			return name, nil
		}
		if err == nil {
			_ = f.Close() // nothing was read
		}
	}
	return "", err
}

// Sources are all Go files below the project's folder, tests and those of other modules among them, and the folders in
// which modules begin with the paths of these.
func (c *Codebase) Sources() (files []string, modules map[string]string, err error) {
	entries, err := c.view.ReadDir(".")
	if err != nil {
		return nil, nil, &report.Error{What: "the project's folder cannot be read", Where: ".", Err: err}
	}
	w := goWalk{view: c.view, enters: func(string) bool { return true }}
	w.walk(".", ".", entries)
	modules = map[string]string{}
	for _, folder := range w.found {
		if name := c.moduleIn(folder.module); name != "" {
			modules[folder.module] = name
		}
		for _, name := range slices.Concat(folder.files, folder.tests) {
			files = append(files, path.Join(folder.dir, name))
		}
	}
	return files, modules, nil
}
