package typecheck

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
)

// A pkg is a package that is read from source.
type pkg struct {
	code      *moduleSources
	path      string
	root      *root
	files     []*file // files that are built, including tests
	parsedAll bool    // files are parsed, and include the missing generated methods
	err       error   // why a file cannot be read

	long map[string]int // cache of longNames
}

type file struct {
	name      string // name in messages
	src       []byte
	of        string // package name
	test      bool
	imports   []string
	generated bool

	syntax *ast.File
	err    error
}

// outside reports whether the file is an external test, of package p_test.
func (f *file) outside() bool { return f.test && strings.HasSuffix(f.of, "_test") }

func (k *moduleSources) readPackage(importPath string, r *root, dir string) *pkg {
	entries, err := r.view.ReadDir(dir)
	if err != nil {
		return nil // there is no such folder
	}
	p := &pkg{code: k, path: importPath, root: r}
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasPrefix(name, "_") || strings.HasPrefix(name, ".") {
			continue
		}
		f, err := k.readFile(r, dir, name)
		if err != nil {
			p.err = err
		}
		if f != nil {
			p.files = append(p.files, f)
		}
	}
	if len(p.files) == 0 && p.err == nil {
		return nil
	}
	return p
}

// readFile reads a file and parses its imports. It returns nil if build tags exclude the file.
func (k *moduleSources) readFile(r *root, dir, name string) (*file, error) {
	src, err := r.view.ReadFile(path.Join(dir, name))
	if err != nil {
		return nil, err
	}
	if k.left -= len(src); k.left < 0 {
		return nil, errTooMuch
	}
	context := k.settings.context()
	context.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(src)), nil }
	if in, err := context.MatchFile(dir, name); !in && err == nil {
		return nil, nil
	}
	f := &file{name: r.shown + path.Join(dir, name), src: src, test: strings.HasSuffix(name, "_test.go")}
	syntax, _ := parser.ParseFile(token.NewFileSet(), f.name, src, parser.ImportsOnly) // a full parse reports mistakes
	if syntax == nil {
		return f, nil
	}
	f.of, f.imports = syntax.Name.Name, importsOf(syntax)
	if slices.Contains(f.imports, "C") && !context.CgoEnabled {
		return nil, nil
	}
	return f, nil
}

func importsOf(syntax *ast.File) (paths []string) {
	for _, spec := range syntax.Imports {
		if path, err := strconv.Unquote(spec.Path.Value); err == nil {
			paths = append(paths, path)
		}
	}
	return paths
}

// imports reports whether one of these packages is imported: by a test if tests is set, else by another file.
func (p *pkg) imports(of map[string]bool, tests bool) bool {
	return slices.ContainsFunc(p.files, func(f *file) bool {
		return f.test == tests && slices.ContainsFunc(f.imports, func(path string) bool { return of[path] })
	})
}

// parsed returns the files with their syntax, and a further one with methods that are yet to be generated.
func (p *pkg) parsed() []*file {
	if p.parsedAll {
		return p.files
	}
	p.parsedAll = true
	for _, f := range p.files {
		f.parse(p.code.files)
	}
	if missing := p.missingMethods(); missing != nil {
		missing.parse(p.code.files)
		p.files = append(p.files, missing)
	}
	return p.files
}

func (f *file) parse(set *token.FileSet) {
	f.syntax, f.err = parser.ParseFile(set, f.name, f.src, parser.ParseComments|parser.SkipObjectResolution)
	f.generated = f.generated || f.syntax != nil && ast.IsGenerated(f.syntax)
}

func (p *pkg) filesThat(keep func(*file) bool) (files []*file) {
	for _, f := range p.parsed() {
		if keep(f) {
			files = append(files, f)
		}
	}
	return files
}
