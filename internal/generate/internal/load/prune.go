package load

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
)

// withLengths are the files that a checker has to see, and the names in the lengths of arrays there: [len(names)]T, in
// which names may be a variable. Files with no types are among them if one of the names is declared nowhere else.
func (p *Package) withLengths() ([]*File, map[string]bool) {
	files := p.Files()
	lengths, declared := make(map[string]bool), make(map[string]bool)
	for _, f := range files {
		lengthNames(f.Syntax, lengths)
		declaredValues(f.Syntax, declared)
	}
	for name := range lengths {
		if !declared[name] && types.Universe.Lookup(name) == nil {
			return slices.Concat(p.filesWithConstants(), p.filesWithValues()), lengths
		}
	}
	return files, lengths
}

// filesWithValues are the files that have neither types nor constants, and may have variables.
func (p *Package) filesWithValues() []*File {
	p.values.Do(func() { p.valueFiles = p.parseSources(func(s *source) bool { return !s.interesting && !s.constants }) })
	return p.valueFiles
}

// lengthNames collects the names in the lengths of arrays of types, and those of which constants are the length.
func lengthNames(file *ast.File, names map[string]bool) {
	for _, decl := range file.Decls {
		d, ok := decl.(*ast.GenDecl)
		if !ok || d.Tok != token.TYPE && d.Tok != token.CONST {
			continue
		}
		ast.Inspect(d, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ArrayType:
				if n.Len != nil {
					ownNames(n.Len, names)
				}
			case *ast.CallExpr:
				ownNames(n, names)
			}
			return true
		})
	}
}

// ownNames collects the names in an expression but for those of other packages.
func ownNames(node ast.Node, names map[string]bool) {
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			return false
		case *ast.Ident:
			names[n.Name] = true
		}
		return true
	})
}

// declaredValues collects the names of a file's constants and variables.
func declaredValues(file *ast.File, names map[string]bool) {
	for _, decl := range file.Decls {
		d, ok := decl.(*ast.GenDecl)
		if !ok || d.Tok != token.CONST && d.Tok != token.VAR {
			continue
		}
		for _, spec := range d.Specs {
			for _, name := range spec.(*ast.ValueSpec).Names {
				names[name.Name] = true
			}
		}
	}
}

// variables is a declaration with those of its variables alone that have one of the names; it is nil when there are
// none.
func variables(d *ast.GenDecl, names map[string]bool) *ast.GenDecl {
	some := *d
	some.Specs = nil
	for _, spec := range d.Specs {
		if slices.ContainsFunc(spec.(*ast.ValueSpec).Names, func(name *ast.Ident) bool { return names[name.Name] }) {
			some.Specs = append(some.Specs, spec)
		}
	}
	if len(some.Specs) == 0 {
		return nil
	}
	return &some
}

// onlyTypes is a file with its declarations of types, constants and methods of interest alone, the variables that
// lengths of arrays are taken from, and the imports that these need: what other functions, and variables, import would
// lead to most of a program.
func onlyTypes(f *File, lengths map[string]bool) *ast.File {
	pruned := *f.Syntax
	pruned.Decls, pruned.Imports = nil, nil
	used := make(map[string]bool)
	for _, decl := range f.Syntax.Decls {
		switch d := decl.(type) {
		case *ast.GenDecl:
			if d.Tok == token.VAR {
				if d = variables(d, lengths); d == nil {
					continue
				}
				decl = d
			}
			if d.Tok == token.IMPORT {
				continue
			}
			qualifiers(d, used)
		case *ast.FuncDecl:
			if newMethod(f, d) == nil {
				continue
			}
			qualifiers(d.Type, used)
		}
		pruned.Decls = append(pruned.Decls, decl)
	}
	var needed []ast.Decl
	for _, spec := range f.Syntax.Imports {
		if f.mayBeUsed(spec, used) {
			pruned.Imports = append(pruned.Imports, spec)
			needed = append(needed, &ast.GenDecl{Tok: token.IMPORT, TokPos: spec.Pos(), Specs: []ast.Spec{spec}})
		}
	}
	pruned.Decls = append(needed, pruned.Decls...)
	return &pruned
}

// qualifiers collects what stands before a dot.
func qualifiers(node ast.Node, used map[string]bool) {
	ast.Inspect(node, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok {
				used[x.Name] = true
			}
		}
		return true
	})
}

// mayBeUsed reports whether an import has one of the names, or brings names without a qualifier.
func (f *File) mayBeUsed(spec *ast.ImportSpec, used map[string]bool) bool {
	if spec.Name != nil {
		return spec.Name.Name == "." || used[spec.Name.Name]
	}
	path, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return false
	}
	for name := range used {
		if p, err := f.Import(name); err == nil && p.Path == path {
			return true
		}
	}
	return false
}
