package references

import (
	"go/ast"
	"go/token"
)

// conversionPackage has the interfaces for conversion. A spoke's code asserts that its hub implements one, and calls
// none of the hub's methods by name.
const conversionPackage = "sigs.k8s.io/controller-runtime/pkg/conversion"

// methods are declared in a file on types of other files, such as a kind's conversion.
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

// typeName returns the name of a receiver's type, or "" if it has type parameters.
func typeName(e ast.Expr) string {
	if star, ok := e.(*ast.StarExpr); ok {
		e = star.X
	}
	if ident, ok := e.(*ast.Ident); ok {
		return ident.Name
	}
	return ""
}

// members maps the name of a type to the names that a file selects from its values, each with the first line. The type
// is known if the value is a literal, as in (&Ship{}).SetupWebhookWithManager, or a variable that begins with one; else
// it is "".
type members map[string]map[string]int

func membersIn(file *ast.File, line func(token.Pos) int) members {
	all := members{}
	ast.Inspect(file, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			of := literalType(sel.X)
			if all[of] == nil {
				all[of] = map[string]int{}
			}
			if _, known := all[of][sel.Sel.Name]; !known {
				all[of][sel.Sel.Name] = line(sel.Sel.Pos())
			}
		}
		return true
	})
	return all
}

// literalType returns the name of a literal's type, or "" for other values and for types of other packages.
func literalType(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return literalType(e.X)
	case *ast.UnaryExpr:
		return literalType(e.X)
	case *ast.CompositeLit:
		return typeName(e.Type)
	case *ast.Ident:
		return initialType(e)
	}
	return ""
}

// initialType returns the name of the type of the literal with which a variable is declared, or "".
func initialType(variable *ast.Ident) string {
	if variable.Obj == nil {
		return ""
	}
	declared, ok := variable.Obj.Decl.(*ast.AssignStmt)
	if !ok || len(declared.Lhs) != len(declared.Rhs) {
		return ""
	}
	for i, left := range declared.Lhs {
		if id, is := left.(*ast.Ident); is && id.Name == variable.Name {
			if _, again := declared.Rhs[i].(*ast.Ident); !again {
				return literalType(declared.Rhs[i])
			}
		}
	}
	return ""
}

// first returns the lowest line that may call one of the methods, or 0.
func (m methods) first(all members) int {
	lowest := first(m.names, all[""])
	for receiver := range m.receivers {
		if line := first(m.names, all[receiver]); line > 0 && (lowest == 0 || line < lowest) {
			lowest = line
		}
	}
	return lowest
}

// usesMethods returns a line of src that needs methods of declaring, or 0: it calls one in the same folder, or converts
// to their type from another one.
func (src *source) usesMethods(declaring *source, importPath string) int {
	if src.dir == declaring.dir {
		return declaring.methods.first(src.members)
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
