package usage

import (
	"go/ast"
	"go/token"
)

// conversionPackage has the interfaces that methods of a kind's versions satisfy without any code that calls them
// by name: a spoke asserts that the hub is one.
const conversionPackage = "sigs.k8s.io/controller-runtime/pkg/conversion"

// methods are those that a file declares for types of other files, such as a kind's conversion.
type methods struct {
	names, receivers map[string]bool
}

func methodsIn(file *ast.File) methods {
	m := methods{names: map[string]bool{}, receivers: map[string]bool{}}
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || f.Recv == nil || len(f.Recv.List) != 1 {
			continue
		}
		if name := typeName(f.Recv.List[0].Type); name != "" && file.Scope.Lookup(name) == nil {
			m.names[f.Name.Name], m.receivers[name] = true, true
		}
	}
	return m
}

// typeName is the name of a receiver's type, or "" when that has type parameters.
func typeName(e ast.Expr) string {
	if star, ok := e.(*ast.StarExpr); ok {
		e = star.X
	}
	if ident, ok := e.(*ast.Ident); ok {
		return ident.Name
	}
	return ""
}

// membersIn are the names that a file selects of values, and the first line that does.
func membersIn(file *ast.File, line func(token.Pos) int) map[string]int {
	members := map[string]int{}
	ast.Inspect(file, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if _, known := members[sel.Sel.Name]; !known {
				members[sel.Sel.Name] = line(sel.Sel.Pos())
			}
		}
		return true
	})
	return members
}

// usesMethods returns a line of src that needs methods of declaring, or 0: it calls one in the same folder, or
// converts to their type from elsewhere.
func (src *source) usesMethods(declaring *source, importPath string) int {
	if src.dir == declaring.dir {
		return first(declaring.methods.names, src.members)
	}
	name, imported := src.imports[importPath]
	if _, converts := src.imports[conversionPackage]; !imported || !converts {
		return 0
	}
	if name == "" {
		name = declaring.pkg
	}
	return first(declaring.methods.receivers, src.selected[name])
}
