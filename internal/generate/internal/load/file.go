package load

import (
	"bytes"
	"errors"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"path"
	"strconv"
	"strings"
	"sync"

	"github.com/slipway-dev/slipway/internal/generate/internal/marker"
	"github.com/slipway-dev/slipway/internal/report"
)

// File is a parsed file.
type File struct {
	Path    string
	Package *Package
	Syntax  *ast.File

	attach  sync.Once
	markers *marker.Attached

	names   sync.Mutex
	imports map[string]*Package // by the name that the file uses, as found so far
}

// parseFile parses s; it reports syntax errors and then returns nil.
func (l *Loader) parseFile(p *Package, s *source) *File {
	l.parsed.Add(1)
	const mode = parser.ParseComments | parser.AllErrors | parser.SkipObjectResolution
	data, err := l.content(s)
	if err != nil {
		l.Report(unreadable(s.path, err))
		return nil
	}
	if !p.Local() {
		blankBodies(data)
	}
	syntax, err := parser.ParseFile(l.fset, s.path, data, mode)
	if err != nil {
		l.reportSyntax(s.path, err)
		l.mu.Lock()
		p.broken = true
		l.mu.Unlock()
		return nil
	}
	return &File{Path: s.path, Package: p, Syntax: syntax}
}

// checkSyntax parses a file for its mistakes, and its imports.
func (l *Loader) checkSyntax(s *source) { l.parseAside(s, parser.AllErrors) }

// parseAside parses a file that is not of interest. Nothing but its imports is kept.
func (l *Loader) parseAside(s *source, mode parser.Mode) {
	s.parsed = true
	buffer := l.buffers.Get().(*bytes.Buffer)
	defer l.buffers.Put(buffer)
	if err := l.config.Inputs.ReadInto(buffer, s.path); err != nil {
		l.Report(unreadable(s.path, err))
		return
	}
	fset := token.NewFileSet()
	syntax, err := parser.ParseFile(fset, s.path, buffer.Bytes(), mode|parser.SkipObjectResolution)
	if err != nil {
		l.reportSyntax(s.path, err)
		return
	}
	s.imports = importSpecs(fset, syntax.Imports)
}

func (l *Loader) reportSyntax(path string, err error) {
	var list scanner.ErrorList
	if !errors.As(err, &list) {
		l.Report(report.Finding{Rule: report.RuleSyntax, Position: report.Position{File: path}, Message: err.Error(), Fatal: true})
		return
	}
	for _, e := range list {
		l.Report(report.Finding{
			Rule:     report.RuleSyntax,
			Position: report.Position{File: e.Pos.Filename, Line: e.Pos.Line, Column: e.Pos.Column},
			Message:  e.Msg, Fatal: true,
		})
	}
}

func (f *File) attached() *marker.Attached {
	f.attach.Do(func() { f.markers = marker.Attach(f.Syntax, f.Package.loader.config.Registry) })
	return f.markers
}

// Position is pos as findings give it.
func (f *File) Position(pos token.Pos) report.Position { return f.Package.loader.Position(pos) }

// Import returns the package that name stands for in this file, or an error that
// says why there is none.
func (f *File) Import(name string) (*Package, error) {
	f.names.Lock()
	defer f.names.Unlock()
	if p := f.imports[name]; p != nil {
		return p, nil
	}
	p, err := f.findImport(name)
	if err != nil {
		return nil, err
	}
	if f.imports == nil {
		f.imports = make(map[string]*Package)
	}
	f.imports[name] = p
	return p, nil
}

// errNotImported says that no import of a file has the name in question.
var errNotImported = errors.New("no import has this name")

// findImport tries the imports that say the name themselves, then those whose
// path looks like it, and only then reads the others' package clauses.
func (f *File) findImport(name string) (*Package, error) {
	var likely, unlikely []string
	for _, spec := range f.Syntax.Imports {
		target, err := strconv.Unquote(spec.Path.Value)
		switch {
		case err != nil, target == "C":
		case spec.Name != nil && spec.Name.Name == name:
			return f.Package.Import(target)
		case spec.Name != nil:
		case looksLike(target, name):
			likely = append(likely, target)
		default:
			unlikely = append(unlikely, target)
		}
	}
	notFound := errNotImported
	for _, target := range append(likely, unlikely...) {
		p, err := f.Package.Import(target)
		if err != nil {
			if looksLike(target, name) {
				notFound = err
			}
			continue
		}
		if p.Name() == name {
			return p, nil
		}
	}
	return nil, notFound
}

// looksLike reports whether the package at an import path is probably called name.
func looksLike(importPath, name string) bool {
	base := path.Base(importPath)
	if base == name {
		return true
	}
	if isVersion(base) {
		base = path.Base(path.Dir(importPath))
	}
	stem, _, _ := strings.Cut(base, ".")
	return stem == name || strings.TrimPrefix(stem, "go-") == name || strings.TrimSuffix(stem, "-go") == name
}

func isVersion(s string) bool {
	if len(s) < 2 || s[0] != 'v' {
		return false
	}
	_, err := strconv.Atoi(s[1:])
	return err == nil
}

// dotImports are the packages whose names this file uses as its own.
func (f *File) dotImports() []*Package {
	var packages []*Package
	for _, spec := range f.Syntax.Imports {
		if spec.Name == nil || spec.Name.Name != "." {
			continue
		}
		if target, err := strconv.Unquote(spec.Path.Value); err == nil {
			if p, err := f.Package.Import(target); err == nil {
				packages = append(packages, p)
			}
		}
	}
	return packages
}
