package repotest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// public are the packages that others may import. What else a module of theirs could see is internal.
var public = []string{"operator/clustertest", "operator/clustertest/example", "project"}

// TestPublicPackages: a package is internal, or listed, and then all can use it: its signatures name no internal types.
func TestPublicPackages(t *testing.T) {
	seen := 0
	for _, p := range packages(t) {
		switch first, _, _ := strings.Cut(p.dir, "/"); {
		case p.name == "main" || slices.Contains([]string{"bench", "cluster", "examples", "test"}, first):
		case p.dir == "web": // go:embed reaches no file above its package, and the page has a folder of its own
		case strings.HasPrefix(p.dir, "internal/") || strings.Contains(p.dir, "/internal/"):
		case !slices.Contains(public, p.dir):
			t.Errorf("%s is public: move it to internal", p.dir)
		default:
			seen++
			checkSignatures(t, p.dir)
		}
	}
	if seen != len(public) {
		t.Errorf("of the public packages %s only %d are there", strings.Join(public, ", "), seen)
	}
}

func checkSignatures(t *testing.T, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for name, node := range exported(f) {
			if used := internalIn(f, node); used != "" {
				t.Errorf("%s: %s names a type of %s, which nobody else can import", dir, name, used)
			}
		}
	}
}

// exported are the parts of a file that others see, by a name to report them by.
func exported(f *ast.File) map[string]ast.Node {
	seen := map[string]ast.Node{}
	for _, decl := range f.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() {
				seen[d.Name.Name] = d.Type
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					addType(seen, s)
				case *ast.ValueSpec:
					if s.Type != nil && s.Names[0].IsExported() {
						seen[s.Names[0].Name] = s.Type
					}
				}
			}
		}
	}
	return seen
}

// addType adds a type; of a struct the fields that others name.
func addType(seen map[string]ast.Node, s *ast.TypeSpec) {
	if !s.Name.IsExported() || s.Assign.IsValid() { // by an alias the type has a name that others can use
		return
	}
	fields, ok := s.Type.(*ast.StructType)
	if !ok {
		seen[s.Name.Name] = s.Type
		return
	}
	for _, field := range fields.Fields.List {
		if len(field.Names) > 0 && field.Names[0].IsExported() { // what is embedded is used by its fields and methods
			seen[s.Name.Name+"."+field.Names[0].Name] = field.Type
		}
	}
}

// internalIn is the internal package that a part of a file names, if it names one.
func internalIn(f *ast.File, node ast.Node) (used string) {
	ast.Inspect(node, func(n ast.Node) bool {
		selector, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		pkg, ok := selector.X.(*ast.Ident)
		for _, imp := range f.Imports {
			at := strings.Trim(imp.Path.Value, `"`)
			name := path.Base(at)
			if imp.Name != nil {
				name = imp.Name.Name
			}
			if ok && pkg.Name == name && strings.Contains(at, "/internal/") {
				used = at
			}
		}
		return true
	})
	return used
}
