package fieldcopy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/fileerror"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
)

// Types are the types that a package of the project declares, by syntax.
type Types struct {
	declared map[string]goType
	alias    string // qualifier in other packages, with the dot
}

// A goType is a type expression with the imports of its file.
type goType struct {
	ast.Expr
	imports gofile.Imports
}

// Read reads the types that the files of a folder declare. It skips files that do not parse.
func Read(code *codebase.Codebase, dir, alias string) (*Types, error) {
	found := &Types{declared: map[string]goType{}, alias: alias}
	for _, name := range code.GoFilesIn(dir) {
		src, err := code.View().ReadFile(name)
		if err != nil {
			return nil, fileerror.Unreadable(name, err)
		}
		found.add(src)
	}
	return found, nil
}

func (t *Types) add(src []byte) {
	file, err := parser.ParseFile(token.NewFileSet(), "", src, parser.SkipObjectResolution)
	if err != nil {
		return
	}
	imports := gofile.Imports{}
	for pkg, name := range gofile.ImportsOf(src) {
		imports[name] = pkg
	}
	for _, decl := range file.Decls {
		d, ok := decl.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, s := range d.Specs {
			if spec, ok := s.(*ast.TypeSpec); ok && spec.TypeParams == nil {
				t.declared[spec.Name.Name] = goType{spec.Type, imports}
			}
		}
	}
}

// local returns the name of a type, if the package declares it.
func (t *Types) local(of goType) (string, bool) {
	id, ok := of.Expr.(*ast.Ident)
	if !ok {
		return "", false
	}
	_, ok = t.declared[id.Name]
	return id.Name, ok
}

// resolve returns the type that a name of the package stands for at last, or else the type itself.
func (t *Types) resolve(of goType) goType {
	for range len(t.declared) {
		name, ok := t.local(of)
		if !ok {
			break
		}
		of = t.declared[name]
	}
	return of
}

// spell returns a type as another package writes it. It reports whether that needs no other import than the package's.
func (t *Types) spell(of goType) (string, bool) {
	switch e := of.Expr.(type) {
	case *ast.Ident:
		if _, ok := t.declared[e.Name]; ok {
			return t.alias + e.Name, true
		}
		return e.Name, types.Universe.Lookup(e.Name) != nil
	case *ast.StarExpr:
		text, ok := t.spell(goType{e.X, of.imports})
		return "*" + text, ok
	case *ast.ArrayType:
		text, ok := t.spell(goType{e.Elt, of.imports})
		return "[]" + text, ok && e.Len == nil
	case *ast.MapType:
		key, ok := t.spell(goType{e.Key, of.imports})
		value, ok2 := t.spell(goType{e.Value, of.imports})
		return "map[" + key + "]" + value, ok && ok2
	}
	return "", false
}

// foreign returns a text that is equal for equal types in every package, since it has full import paths. It reports
// whether the type refers to nothing that the package declares.
func (t *Types) foreign(of goType) (string, bool) {
	ok := true
	var b strings.Builder
	ast.Inspect(of.Expr, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, known := n.X.(*ast.Ident); known && of.imports[x.Name] != "" {
				b.WriteString(of.imports[x.Name] + "." + n.Sel.Name + " ")
				return false
			}
			ok = false
		case *ast.Ident:
			ok = ok && types.Universe.Lookup(n.Name) != nil
			b.WriteString(n.Name + " ")
		case *ast.StructType, *ast.FuncType, *ast.ChanType, *ast.InterfaceType:
			ok = false
		}
		return ok
	})
	return types.ExprString(of.Expr) + "|" + b.String(), ok
}

type goField struct {
	name string
	goType
}

// fields lists the fields of a struct. An embedded field has the name of its type.
func fields(of goType) ([]goField, bool) {
	s, ok := of.Expr.(*ast.StructType)
	if !ok {
		return nil, false
	}
	var all []goField
	for _, f := range s.Fields.List {
		names := f.Names
		if len(names) == 0 {
			names = []*ast.Ident{embeddedName(f.Type)}
		}
		for _, name := range names {
			all = append(all, goField{name.Name, goType{f.Type, of.imports}})
		}
	}
	return all, true
}

func embeddedName(of ast.Expr) *ast.Ident {
	switch of := of.(type) {
	case *ast.StarExpr:
		return embeddedName(of.X)
	case *ast.SelectorExpr:
		return of.Sel
	case *ast.Ident:
		return of
	}
	return ast.NewIdent("_")
}
