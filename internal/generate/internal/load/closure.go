package load

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
)

// Sources are as much of a package as says what its types are.
type Sources struct {
	Path, Name string
	Files      []string
	// Imports are the packages that the types need, by what the files call them: import path → package path.
	Imports map[string]string
}

// Closure returns the packages with all of their files, and those that their types need, with the files that declare
// types. It is a small part of all that they import: what functions do is left out. It is not ok when something of it
// is not there.
func (l *Loader) Closure(roots []*Package) (all []Sources, ok bool) {
	if !slices.Equal(l.config.Tags, []string{GeneratedTag}) {
		return nil, false
	}
	seen := make(map[string]*Package)
	todo := slices.Clone(roots)
	for len(todo) > 0 {
		p := todo[0]
		todo = todo[1:]
		if other := seen[p.Path]; other != nil {
			if other != p {
				return nil, false // one path in two modules
			}
			continue
		}
		seen[p.Path] = p
		s, needed, ok := p.typeSources(slices.Contains(roots, p))
		if !ok {
			return nil, false
		}
		if len(s.Files) > 0 {
			all = append(all, s)
		}
		todo = append(todo, needed...)
	}
	return withoutAbsent(all), true
}

// typeSources are the sources of one package, and what it needs.
func (p *Package) typeSources(whole bool) (s Sources, needed []*Package, ok bool) {
	s = Sources{Path: p.Path, Name: p.Name(), Imports: make(map[string]string)}
	files, lengths := p.withLengths()
	for _, f := range files {
		s.Files = append(s.Files, f.Path)
		pruned := onlyTypes(f, lengths)
		if p.isStandard() {
			pruned = f.onlyRenamed()
		}
		if !f.knows(pruned.Decls) {
			return s, nil, false
		}
		for _, spec := range pruned.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil || path == "C" || path == "unsafe" || s.Imports[path] != "" {
				continue
			}
			target, err := p.Import(path)
			if err != nil {
				return s, nil, false // a dot import: all others were found by their names
			}
			s.Imports[path] = target.Path
			needed = append(needed, target)
		}
	}
	if whole {
		s.Files = p.GoFiles()
	}
	return s, needed, true
}

// knows reports whether there is a package for each name that declarations have before a dot.
func (f *File) knows(decls []ast.Decl) bool {
	used := make(map[string]bool)
	for _, decl := range decls {
		switch d := decl.(type) {
		case *ast.GenDecl:
			qualifiers(d, used)
		case *ast.FuncDecl:
			qualifiers(d.Type, used)
		}
	}
	for name := range used {
		if _, err := f.Import(name); err != nil && name != "unsafe" {
			return false
		}
	}
	return true
}

// onlyRenamed is a file with the imports alone that it declares types as, like os.FileMode. What the types of the
// standard library are made of else says nothing about those of the user.
func (f *File) onlyRenamed() *ast.File {
	used := make(map[string]bool)
	for _, decl := range f.Syntax.Decls {
		d, ok := decl.(*ast.GenDecl)
		if !ok || d.Tok != token.TYPE {
			continue
		}
		for _, spec := range d.Specs {
			if renamed, ok := ast.Unparen(spec.(*ast.TypeSpec).Type).(*ast.SelectorExpr); ok {
				qualifiers(renamed, used)
			}
		}
	}
	pruned := &ast.File{}
	for _, spec := range f.Syntax.Imports {
		if len(used) > 0 && f.mayBeUsed(spec, used) {
			pruned.Imports = append(pruned.Imports, spec)
		}
	}
	return pruned
}

// withoutAbsent leaves out imports of packages that have no files which declare types.
func withoutAbsent(all []Sources) []Sources {
	there := make(map[string]bool, len(all))
	for _, s := range all {
		there[s.Path] = true
	}
	for _, s := range all {
		for path, target := range s.Imports {
			if !there[target] {
				delete(s.Imports, path)
			}
		}
	}
	return all
}
