package setupenvtest

import (
	"go/ast"
	"go/token"
	"strconv"
)

// assetsVariable names the folder of programs for envtest.
const assetsVariable = "KUBEBUILDER_ASSETS"

// truth is the value of a condition, and whether it is decided without a run of the suite. One that looks at
// KUBEBUILDER_ASSETS is decided: a suite that has it downloads nothing.
func (s suite) truth(e ast.Expr, depth int) (value, decided bool) {
	if *s.left--; *s.left < 0 || depth > deepest || e == nil {
		return false, false
	}
	switch e := e.(type) {
	case *ast.Ident:
		return s.truthOf(e.Name, depth)
	case *ast.ParenExpr:
		return s.truth(e.X, depth+1)
	case *ast.UnaryExpr:
		value, decided = s.truth(e.X, depth+1)
		return !value && decided, decided
	}
	return false, s.looksAtAssets(e)
}

func (s suite) truthOf(name string, depth int) (value, decided bool) {
	if _, declared := s.values[name]; !declared && (name == "true" || name == "false") {
		return name == "true", true
	}
	return s.truth(s.values[name], depth+1)
}

// looksAtAssets reports whether an expression has the name of the variable in it.
func (s suite) looksAtAssets(e ast.Expr) (looks bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		text, ok := n.(*ast.BasicLit)
		looks = looks || ok && text.Kind == token.STRING && text.Value == strconv.Quote(assetsVariable)
		return !looks
	})
	return looks
}

// ownerName names the variable, or the field of one, whose field an assignment sets.
func ownerName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return ownerName(e.X) + "." + e.Sel.Name
	case *ast.ParenExpr:
		return ownerName(e.X)
	case *ast.UnaryExpr:
		return ownerName(e.X)
	case *ast.StarExpr:
		return ownerName(e.X)
	}
	return "at " + strconv.Itoa(int(e.Pos()))
}
