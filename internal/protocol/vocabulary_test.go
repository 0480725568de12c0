package protocol_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestOneVocabulary: what two packages that speak a protocol declare under one name is the same in both. Their modules
// are apart, so each has types of its own. A client beside the command
// declares of a configuration only what it sends, and of an event only what it reads.
func TestOneVocabulary(t *testing.T) {
	for _, tc := range []struct {
		speakers []string // the program, the command, other clients
		shared   []string // what all of them declare, and must
	}{
		{[]string{"cluster/protocol", "internal/protocol", "operator/clustertest/internal/protocol", "bench/controlplane"},
			[]string{"Config", "Spec", "Node", "NodeKind", "Request", "State", "Number", "StateReady", "PlainNodes"}},
		{[]string{"cluster/crdcheck", "internal/crdcheck"}, []string{"File", "Finding", "Change", "Reason", "RuleCost", "Untyped", "question", "answer", "Protocol"}},
	} {
		first := map[string]string{} // by name, the package that declares it
		all := map[string]any{}
		for i, speaker := range tc.speakers {
			words := vocabulary(t, filepath.Join("../..", speaker))
			for name, is := range words {
				if first[name] == "" {
					first[name], all[name] = speaker, is
				}
				want := all[name]
				if i > 1 && (name == "Config" || name == "Spec" || name == "Event") {
					want = sent(want.(map[string]string), is.(map[string]string))
				}
				if diff := cmp.Diff(want, is); diff != "" {
					t.Errorf("%s: -%s +%s:\n%s", name, first[name], speaker, diff)
				}
			}
			for _, name := range tc.shared {
				if words[name] == nil {
					t.Errorf("%s does not declare %s", speaker, name)
				}
			}
		}
	}
}

// sent returns the fields of all that a speaker declares, too.
func sent(all, is map[string]string) map[string]string {
	fields := maps.Clone(all)
	maps.DeleteFunc(fields, func(field, _ string) bool { return is[field] == "" })
	return fields
}

// vocabulary is what the Go package in dir declares for the wire: structs that JSON knows, named texts, and constants.
// By name it has what JSON calls each field with the field's name, type and options, or what a type or constant is.
func vocabulary(t *testing.T, dir string) map[string]any {
	t.Helper()
	all := map[string]any{}
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(paths) == 0 {
		t.Fatal("no files in", dir, err)
	}
	for _, path := range slices.DeleteFunc(paths, func(p string) bool { return strings.HasSuffix(p, "_test.go") }) {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch d := n.(type) {
			case *ast.FuncDecl:
				return false // what is declared in there is no word
			case *ast.TypeSpec:
				if is := wireType(t, d.Type); is != nil {
					all[d.Name.Name] = is
				}
			case *ast.ValueSpec:
				if literal, ok := constant(d); ok && ast.IsExported(d.Names[0].Name) {
					all[d.Names[0].Name] = literal
				}
			}
			return true
		})
	}
	return all
}

// constant is the value of a declaration of one literal, with its type where it has one.
func constant(d *ast.ValueSpec) (string, bool) {
	if len(d.Names) != 1 || len(d.Values) != 1 {
		return "", false
	}
	literal, ok := d.Values[0].(*ast.BasicLit)
	if !ok {
		return "", false
	}
	if d.Type == nil {
		return literal.Value, true
	}
	return typeName(d.Type) + " " + literal.Value, true
}

// wireType is what a type is on the wire; nil for one that is not.
func wireType(t *testing.T, expr ast.Expr) any {
	t.Helper()
	if id, ok := expr.(*ast.Ident); ok && id.Name == "string" {
		return "string"
	}
	st, ok := expr.(*ast.StructType)
	if !ok {
		return nil
	}
	fields, tagged := map[string]string{}, false
	for _, f := range st.Fields.List {
		if f.Tag == nil {
			fields[typeName(f.Type)] = "embedded"
			continue
		}
		tag, err := strconv.Unquote(f.Tag.Value)
		if err != nil {
			t.Fatal(err)
		}
		key, options, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
		fields[key], tagged = strings.TrimSpace(f.Names[0].Name+" "+typeName(f.Type)+" "+options), true
	}
	if !tagged {
		return nil
	}
	return fields
}

func typeName(expr ast.Expr) string {
	switch e := expr.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.StarExpr:
		return "*" + typeName(e.X)
	case *ast.ArrayType:
		return "[]" + typeName(e.Elt)
	case *ast.MapType:
		return "map[" + typeName(e.Key) + "]" + typeName(e.Value)
	case *ast.SelectorExpr:
		return typeName(e.X) + "." + e.Sel.Name
	}
	return fmt.Sprintf("%T", expr)
}
