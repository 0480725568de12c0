package repotest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// TestPatternsWait: the initialisers of all packages run at every start of the command, whatever it is asked to do, so
// regular expressions are compiled when they are first used. Package lazy does that.
func TestPatternsWait(t *testing.T) {
	checked := 0
	for _, file := range files(t, ".go") {
		if !strings.HasPrefix(file, "internal/") && !strings.HasPrefix(file, "project/") || strings.HasSuffix(file, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, filepath.Join(root, file), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		checked++
		for _, decl := range f.Decls {
			vars, ok := decl.(*ast.GenDecl)
			if !ok || vars.Tok != token.VAR {
				continue
			}
			for _, place := range compiled(vars) {
				t.Errorf("%s: this pattern is compiled at every start; lazy.Regexp compiles it when it is used", set.Position(place))
			}
		}
	}
	if checked < 300 {
		t.Errorf("checked only %d files", checked)
	}
}

// compiled are the places where a declaration compiles a pattern, apart from functions that are only declared there.
func compiled(decl *ast.GenDecl) (places []token.Pos) {
	ast.Inspect(decl, func(n ast.Node) bool {
		if _, later := n.(*ast.FuncLit); later {
			return false
		}
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == "regexp" && s.Sel.Name == "MustCompile" {
				places = append(places, s.Pos())
			}
		}
		return true
	})
	return places
}
