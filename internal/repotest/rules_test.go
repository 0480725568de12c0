package repotest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/report"
)

// TestRulesOfFindings: each finding has a rule, each rule that is used is listed, and each listed one is used.
func TestRulesOfFindings(t *testing.T) {
	set, used, constants := token.NewFileSet(), map[string]bool{}, map[string]string{}
	for _, name := range files(t, ".go") {
		if strings.HasSuffix(name, "_test.go") || !strings.HasPrefix(name, "internal/") {
			continue
		}
		syntax, err := parser.ParseFile(set, filepath.Join(root, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				if isSelector(n.Type, "report", "Finding") && !hasKey(n, "Rule") && hasKey(n, "Message") {
					t.Errorf("%s: the finding has no rule", set.Position(n.Pos()))
				}
			case *ast.SelectorExpr:
				if isSelector(n, "report", n.Sel.Name) && strings.HasPrefix(n.Sel.Name, "Rule") {
					used[n.Sel.Name] = true
				}
			case *ast.ValueSpec:
				if value, is := n.Type.(*ast.Ident); is && value.Name == "Rule" && name == "internal/report/rule.go" {
					constants[strings.Trim(n.Values[0].(*ast.BasicLit).Value, `"`)] = n.Names[0].Name
				}
			}
			return true
		})
	}
	for _, r := range report.Rules() {
		name := constants[string(r.Rule)]
		if !used[name] {
			t.Errorf("the rule %s is listed, but no finding has it", r.Rule)
		}
		delete(constants, string(r.Rule))
	}
	for rule := range constants {
		t.Errorf("the rule %s is not listed", rule)
	}
}

// isSelector reports whether an expression is pkg.name.
func isSelector(x ast.Expr, pkg, name string) bool {
	selector, is := x.(*ast.SelectorExpr)
	if !is || selector.Sel.Name != name {
		return false
	}
	of, is := selector.X.(*ast.Ident)
	return is && of.Name == pkg
}

// hasKey reports whether a literal of a struct sets a field.
func hasKey(literal *ast.CompositeLit, name string) bool {
	for _, element := range literal.Elts {
		pair, is := element.(*ast.KeyValueExpr)
		if !is {
			continue
		}
		if key, is := pair.Key.(*ast.Ident); is && key.Name == name {
			return true
		}
	}
	return false
}
