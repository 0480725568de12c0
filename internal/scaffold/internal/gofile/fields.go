package gofile

import (
	"go/ast"
	"go/parser"
	"go/token"
)

// Fields are the fields of a struct type that a file declares, each with the last name of its type, so that
// *runtime.Scheme is Scheme. A field whose type has no name of its own has "". What is no struct type has none.
func Fields(src []byte, name string) map[string]string {
	fields := map[string]string{}
	file, err := parser.ParseFile(token.NewFileSet(), "", src, parser.SkipObjectResolution)
	if err != nil {
		return fields
	}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok || spec.Name.Name != name {
			return true
		}
		if typ, ok := spec.Type.(*ast.StructType); ok {
			addFields(fields, typ)
		}
		return false
	})
	return fields
}

func addFields(fields map[string]string, of *ast.StructType) {
	for _, field := range of.Fields.List {
		typ := lastName(field.Type)
		if field.Names == nil { // embedded
			fields[typ] = typ
		}
		for _, name := range field.Names {
			fields[name.Name] = typ
		}
	}
}

// lastName is the name of a type without its package, or "".
func lastName(typ ast.Expr) string {
	switch typ := typ.(type) {
	case *ast.Ident:
		return typ.Name
	case *ast.SelectorExpr:
		return typ.Sel.Name
	case *ast.StarExpr:
		return lastName(typ.X)
	}
	return ""
}
