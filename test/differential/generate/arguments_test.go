package generate

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"testing"
)

// withoutArguments is generated code without the type arguments that controller-gen leaves out: those of types that are
// made or declared.
func withoutArguments(t *testing.T, code []byte) []byte {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", code, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var cuts [][2]int
	cut := func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.IndexExpr:
			cuts = append(cuts, [2]int{fset.Position(node.X.End()).Offset, fset.Position(node.End()).Offset})
			return false
		case *ast.IndexListExpr:
			cuts = append(cuts, [2]int{fset.Position(node.X.End()).Offset, fset.Position(node.End()).Offset})
			return false
		}
		return true
	}
	ast.Inspect(file, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.CallExpr:
			if called, ok := node.Fun.(*ast.Ident); ok && (called.Name == "make" || called.Name == "new") {
				ast.Inspect(node.Args[0], cut)
			}
		case *ast.ValueSpec:
			if node.Type != nil {
				ast.Inspect(node.Type, cut)
			}
		}
		return true
	})
	code = slices.Clone(code)
	for _, c := range slices.Backward(cuts) {
		code = slices.Delete(code, c[0], c[1])
	}
	return code
}
