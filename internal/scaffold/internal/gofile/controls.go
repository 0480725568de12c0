package gofile

import (
	"go/ast"
	"go/parser"
	"go/token"
)

// A Controlled is a type whose objects a controller handles.
type Controlled struct {
	Package string // its import path; "" for one of the file's own package, or of one that is not known
	Kind    string
	Line    int
}

// ControlledBy are the types for which a file sets up a controller of the reconciler of a name, as far as its syntax
// says: those of For(&batchv1.Job{}) in the reconciler's methods and in functions.
func ControlledBy(src []byte, reconciler string) (all []Controlled) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", src, parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	paths := map[string]string{}
	for path, name := range ImportsOf(src) {
		paths[name] = path
	}
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || f.Recv != nil && receiver(f) != reconciler {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && isFor(call) {
				if c, ok := controlled(call.Args[0], paths); ok {
					c.Line = fset.Position(call.Args[0].Pos()).Line
					all = append(all, c)
				}
			}
			return true
		})
	}
	return all
}

// receiver is the name of the type of a method, or "" for one with type parameters.
func receiver(f *ast.FuncDecl) string {
	typ := f.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	if name, ok := typ.(*ast.Ident); ok {
		return name.Name
	}
	return ""
}

// isFor reports whether a call is that of a controller's builder for its type. A webhook's builder has such a method,
// too.
func isFor(call *ast.CallExpr) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "For" || len(call.Args) == 0 {
		return false
	}
	for x := sel.X; ; {
		switch e := x.(type) {
		case *ast.CallExpr:
			x = e.Fun
		case *ast.SelectorExpr:
			if e.Sel.Name == "NewWebhookManagedBy" {
				return false
			}
			x = e.X
		default:
			return true
		}
	}
}

// controlled is the type of an argument such as &batchv1.Job{}.
func controlled(x ast.Expr, paths map[string]string) (Controlled, bool) {
	pointer, ok := x.(*ast.UnaryExpr)
	if !ok {
		return Controlled{}, false
	}
	literal, ok := pointer.X.(*ast.CompositeLit)
	if !ok {
		return Controlled{}, false
	}
	switch typ := literal.Type.(type) {
	case *ast.Ident:
		return Controlled{Kind: typ.Name}, true
	case *ast.SelectorExpr:
		if name, ok := typ.X.(*ast.Ident); ok {
			return Controlled{Package: paths[name.Name], Kind: typ.Sel.Name}, true
		}
	}
	return Controlled{}, false
}
