package repotest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// ofProjects are the folders of the packages that read and change projects.
var ofProjects = []string{
	"internal/chart", "internal/codebase", "internal/generate/internal/load", "internal/kustomization", "internal/makefile", "internal/regenerate", "internal/scaffold",
}

// TestErrorsOfProjectsHaveClasses: an error about a project says by its exit code whose it is to mend: it has a class,
// a code, a cause or a flag as its place.
func TestErrorsOfProjectsHaveClasses(t *testing.T) {
	seen := 0
	for _, name := range files(t, ".go") {
		if strings.HasSuffix(name, "_test.go") || !slices.ContainsFunc(ofProjects, func(dir string) bool { return strings.HasPrefix(name, dir+"/") }) {
			continue
		}
		set := token.NewFileSet()
		syntax, err := parser.ParseFile(set, filepath.Join(root, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for literal := range errorLiterals(syntax) {
			seen++
			if !classified(literal) {
				t.Errorf("%s: the error has no Class, Code or Err, and no flag as Where", set.Position(literal.Pos()))
			}
		}
	}
	if seen < 100 {
		t.Errorf("found only %d errors", seen)
	}
}

// TestClassified: the rule finds what it is for, and nothing else.
func TestClassified(t *testing.T) {
	for literal, want := range map[string]bool{
		`report.Error{What: "a", Where: file}`:                           false,
		`report.Error{What: "a", Where: file + "--"}`:                    false,
		`report.Error{What: "a", Where: file, Class: report.BadProject}`: true,
		`report.Error{What: "a", Code: 1}`:                               true,
		`report.Error{What: "a", Err: err}`:                              true,
		`report.Error{What: "a", Where: "--kind " + kind}`:               true,
		`report.Error{What: "a", Where: fmt.Sprintf("--kind %s", kind)}`: true,
		`report.Error{What: "a", Where: c.flag}`:                         true,
	} {
		syntax, err := parser.ParseFile(token.NewFileSet(), "a.go", "package p\nvar e = &"+literal, 0)
		if err != nil {
			t.Fatal(err)
		}
		for found := range errorLiterals(syntax) {
			if got := classified(found); got != want {
				t.Errorf("%s: got %t", literal, got)
			}
		}
	}
}

// errorLiterals are the literals of report.Error in a file.
func errorLiterals(file *ast.File) func(yield func(*ast.CompositeLit) bool) {
	return func(yield func(*ast.CompositeLit) bool) {
		for node := range ast.Preorder(file) {
			literal, _ := node.(*ast.CompositeLit)
			if literal == nil {
				continue
			}
			of, _ := literal.Type.(*ast.SelectorExpr)
			if of == nil || of.Sel.Name != "Error" {
				continue
			}
			if pkg, _ := of.X.(*ast.Ident); pkg != nil && pkg.Name == "report" && !yield(literal) {
				return
			}
		}
	}
}

// classified reports whether an error has what its exit code follows from.
func classified(literal *ast.CompositeLit) bool {
	return slices.ContainsFunc(literal.Elts, func(element ast.Expr) bool {
		field, _ := element.(*ast.KeyValueExpr)
		if field == nil {
			return false
		}
		switch name, _ := field.Key.(*ast.Ident); name.Name {
		case "Class", "Code", "Err":
			return true
		case "Where":
			return isFlag(field.Value)
		}
		return false
	})
}

// isFlag reports whether the text of an expression begins with a flag, as far as syntax shows it.
func isFlag(text ast.Expr) bool {
	switch text := text.(type) {
	case *ast.BasicLit:
		return strings.HasPrefix(text.Value, `"--`)
	case *ast.BinaryExpr:
		return isFlag(text.X)
	case *ast.CallExpr:
		return len(text.Args) > 0 && isFlag(text.Args[0])
	case *ast.SelectorExpr:
		return text.Sel.Name == "flag"
	case *ast.Ident:
		return text.Name == "flag"
	}
	return false
}
