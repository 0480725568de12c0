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

// A goFolder is a folder with Go files, whose names are relative to it.
type goFolder struct {
	dir    string   // slash-separated; "." is the project's
	module string   // folder of its go.mod
	files  []string // without tests
	tests  []string
}

// mostFiles bounds how many Go files are read.
const mostFiles = 50_000

type goWalk struct {
	view   fs.ReadDirFS
	enters func(dir string) bool // decides about a folder with a go.mod
	found  []goFolder
	files  int
}

// GoFiles returns the project's Go files without tests. The error is that of [Codebase.Kinds].
func (c *Codebase) GoFiles() (names []string, err error) {
	folders, err := c.folders()
	for _, folder := range folders {
		for _, name := range folder.files {
			names = append(names, path.Join(folder.dir, name))
		}
	}
	return names, err
}

// FirstLine returns "file:line" of the first match in the project's Go files, or "".
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

// readFolders finds the Go code of the project's module and of the nested modules that belong to it. A nested module
// belongs if go.mod requires it or PROJECT has types there. Others are examples, tools or downloads. Folders that
// cannot be read are skipped.
func (c *Codebase) readFolders() ([]goFolder, error) {
	types, required := c.listed(), c.required()
	w := goWalk{view: c.view, enters: func(dir string) bool {
		return types.below(dir) || slices.Contains(required, c.moduleIn(dir))
	}}
	entries, err := c.view.ReadDir(".")
	if err != nil {
		return nil, &report.Error{Class: report.BadProject, What: "the project's folder cannot be read", Where: ".", Err: err}
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

// isCode reports whether the go command would build or test a file of this name.
func isCode(e fs.DirEntry) bool {
	name := e.Name()
	return strings.HasSuffix(name, ".go") && name[0] != '_' && name[0] != '.' && !e.IsDir()
}

func isModuleFile(e fs.DirEntry) bool { return e.Name() == "go.mod" && !e.IsDir() }

func (c *Codebase) modulePath() string { return c.moduleIn(".") }

// moduleIn returns the path of the module whose go.mod is in dir, or "".
func (c *Codebase) moduleIn(dir string) string {
	data, err := c.view.ReadFile(path.Join(dir, "go.mod"))
	if err != nil {
		return ""
	}
	return modfile.ModulePath(data)
}

// NestedModule returns the root folder of the nested module that contains dir, or "" for the project's own module.
func (c *Codebase) NestedModule(dir string) string {
	for at := path.Clean(dir); at != "." && fs.ValidPath(at); at = path.Dir(at) {
		if c.moduleIn(at) != "" {
			return at
		}
	}
	return ""
}

// ImportPath returns the import path of a folder. Repo is the path of the project's module; dir may be in a nested one.
func (c *Codebase) ImportPath(repo, dir string) string {
	if at := c.NestedModule(dir); at != "" {
		return path.Join(c.moduleIn(at), strings.TrimPrefix(dir, at))
	}
	return path.Join(repo, dir)
}

// required returns the module paths that the project's go.mod requires. An invalid go.mod requires none.
func (c *Codebase) required() (paths []string) {
	for _, r := range c.requirements() {
		paths = append(paths, r.Mod.Path)
	}
	return paths
}

// Required returns the version of a module that the project's go.mod requires, or "".
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

// Outside returns the first Go file that is a link out of the repository, or "". A compiler's messages would quote
// lines of a file that is not the project's.
func (c *Codebase) Outside() (string, error) {
	files, _, err := c.Sources()
	for _, name := range files {
		f, err := c.view.Open(name)
		if errors.Is(err, fileview.ErrOutside) {
			return name, nil
		}
		if err == nil {
			_ = f.Close() // it was opened only to check where it leads
		}
	}
	return "", err
}

// Sources returns all Go files below the project's folder, including tests and nested modules. Modules maps the root
// folder of each module to its path.
func (c *Codebase) Sources() (files []string, modules map[string]string, err error) {
	entries, err := c.view.ReadDir(".")
	if err != nil {
		return nil, nil, &report.Error{Class: report.BadProject, What: "the project's folder cannot be read", Where: ".", Err: err}
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
