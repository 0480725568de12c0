package crdcheck

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestWire: the types that the program and this package exchange are declared in both, for their modules are apart; and they
// have the same fields, under the same names, of the same types.
func TestWire(t *testing.T) {
	own, program := wireTypes(t, "."), wireTypes(t, filepath.Join("..", "..", "cluster", "crdcheck"))
	for _, name := range []string{"File", "Finding", "Change"} {
		if len(own[name]) == 0 {
			t.Fatalf("%s is declared nowhere", name)
		}
		if diff := cmp.Diff(program[name], own[name]); diff != "" {
			t.Errorf("%s: -program +own:\n%s", name, diff)
		}
	}
	for field, want := range own["answer"] { // the program tells its Kubernetes besides
		got, _, _ := strings.Cut(program["answer"][field], ",")
		if want, _, _ = strings.Cut(want, ","); got != want {
			t.Errorf("the answer's %s is %q, and %q in the program", field, want, got)
		}
	}
	const asked = "files before after"
	for field := range strings.FieldsSeq(asked) {
		if program["question"][field] != "[]File" {
			t.Errorf("the program is not asked %q: %v", field, program["question"])
		}
	}
	if got := constant(t, filepath.Join("..", "..", "cluster", "crdcheck"), "Protocol"); got != strconv.Itoa(protocol) {
		t.Errorf("the program speaks protocol %s, this package %d", got, protocol)
	}
}

// wireTypes are the structs of the Go package in dir: by name, what JSON calls each field, and its type and options.
func wireTypes(t *testing.T, dir string) map[string]map[string]string {
	t.Helper()
	all := make(map[string]map[string]string)
	eachNode(t, dir, func(n ast.Node) {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return
		}
		st, ok := spec.Type.(*ast.StructType)
		if !ok {
			return
		}
		fields := make(map[string]string)
		for _, f := range st.Fields.List {
			if f.Tag == nil {
				continue
			}
			tag, err := strconv.Unquote(f.Tag.Value)
			if err != nil {
				t.Fatal(err)
			}
			name, options, found := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
			fields[name] = typeName(f.Type)
			if found {
				fields[name] += "," + options
			}
		}
		all[spec.Name.Name] = fields
	})
	return all
}

func typeName(expr ast.Expr) string {
	switch e := expr.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.ArrayType:
		return "[]" + typeName(e.Elt)
	}
	return fmt.Sprintf("%T", expr)
}

// constant is the value of a constant of the package in dir, as it is written.
func constant(t *testing.T, dir, name string) (value string) {
	t.Helper()
	eachNode(t, dir, func(n ast.Node) {
		if spec, ok := n.(*ast.ValueSpec); ok && spec.Names[0].Name == name && len(spec.Values) == 1 {
			if literal, ok := spec.Values[0].(*ast.BasicLit); ok {
				value = literal.Value
			}
		}
	})
	return value
}

func eachNode(t *testing.T, dir string, do func(ast.Node)) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(paths) == 0 {
		t.Fatal("no files in", dir, err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			do(n)
			return true
		})
	}
}
