package load

import (
	"go/ast"
	"go/token"
	"strconv"
)

// onlyTypes is a file with its declarations of types, constants and methods of interest alone, and the imports that these
// need: what other functions, and variables, import would lead to most of a program.
func onlyTypes(f *File) *ast.File {
	pruned := *f.Syntax
	pruned.Decls, pruned.Imports = nil, nil
	used := make(map[string]bool)
	for _, decl := range f.Syntax.Decls {
		switch d := decl.(type) {
		case *ast.GenDecl:
			if d.Tok != token.TYPE && d.Tok != token.CONST {
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
