package source

import (
	"go/ast"
	"path"
	"slices"
	"strconv"
)

// MetaPath is the import path of the package that kinds embed TypeMeta and ObjectMeta of.
const MetaPath = "k8s.io/apimachinery/pkg/apis/meta/v1"

// IsKind reports whether a type is a kind: it embeds TypeMeta and ObjectMeta of [MetaPath]. The function reports of an
// expression that ends in one of these names whether it means the type of that package. Other embedded types are not
// looked into, since their packages may be large.
func IsKind(spec *ast.TypeSpec, isMeta func(ast.Expr) bool) bool {
	st, ok := spec.Type.(*ast.StructType)
	return ok && embeds(st, "TypeMeta", isMeta) && embeds(st, "ObjectMeta", isMeta)
}

func embeds(st *ast.StructType, name string, isMeta func(ast.Expr) bool) bool {
	return slices.ContainsFunc(st.Fields.List, func(f *ast.Field) bool {
		return len(f.Names) == 0 && typeName(f.Type) == name && isMeta(f.Type)
	})
}

// typeName is the name that a type expression ends in, or "".
func typeName(expr ast.Expr) string {
	switch e := expr.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

// metadata finds out from the imports of a file what TypeMeta and ObjectMeta mean in it.
type metadata struct {
	file    *ast.File
	certain bool // becomes false where no import has the name
}

// is reports whether an expression means a type of [MetaPath].
func (m *metadata) is(expr ast.Expr) bool {
	selector, ok := expr.(*ast.SelectorExpr)
	if !ok {
		return slices.Contains(m.imported("."), MetaPath)
	}
	name, ok := selector.X.(*ast.Ident)
	if !ok {
		return false
	}
	paths := m.imported(name.Name)
	m.certain = m.certain && len(paths) > 0
	return len(paths) == 0 || slices.Contains(paths, MetaPath)
}

// imported are the paths that the file imports under a name.
func (m *metadata) imported(as string) (paths []string) {
	for _, spec := range m.file.Imports {
		target, err := strconv.Unquote(spec.Path.Value)
		if err == nil && (spec.Name != nil && spec.Name.Name == as || spec.Name == nil && path.Base(target) == as) {
			paths = append(paths, target)
		}
	}
	return paths
}
