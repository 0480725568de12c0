package scaffold

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A goDir is the declarations and files of a folder.
type goDir struct {
	declares map[string]bool
	files    map[string]*ast.File
}

// checkCompiles parses the project's Go files and fails for names of the project's own
// that are used and not declared: what a compiler would say first, in no time.
func checkCompiles(t *testing.T, root string) {
	t.Helper()
	dirs := map[string]*goDir{}
	must(t, filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Errorf("does not parse: %v", err)
			return nil
		}
		rel, err := filepath.Rel(root, name)
		dir := path.Dir(filepath.ToSlash(rel))
		if dirs[dir] == nil {
			dirs[dir] = &goDir{map[string]bool{}, map[string]*ast.File{}}
		}
		dirs[dir].files[filepath.ToSlash(rel)] = file
		for name := range file.Scope.Objects {
			dirs[dir].declares[name] = true
		}
		return err
	}))
	for _, dir := range dirs {
		for _, name := range slices.Sorted(maps.Keys(dir.files)) {
			checkIdentifiers(t, name, dir.files[name], dir, dirs)
		}
	}
}

// checkIdentifiers looks up what one file uses.
func checkIdentifiers(t *testing.T, name string, file *ast.File, own *goDir, dirs map[string]*goDir) {
	t.Helper()
	imported := map[string]*goDir{}
	for _, spec := range file.Imports {
		importPath, _ := strconv.Unquote(spec.Path.Value)
		alias := path.Base(importPath)
		if spec.Name != nil {
			alias = spec.Name.Name
		}
		imported[alias] = nil
		if rel, ok := strings.CutPrefix(importPath, "example.com/op/"); ok {
			if imported[alias] = dirs[rel]; dirs[rel] == nil {
				t.Errorf("%s imports %s, where there is no Go file", name, rel)
			}
		}
	}
	for _, ident := range file.Unresolved {
		_, isImport := imported[ident.Name]
		if !isImport && !own.declares[ident.Name] && types.Universe.Lookup(ident.Name) == nil {
			t.Errorf("%s: %s is not declared", name, ident.Name)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); ok && x.Obj == nil {
			if dir := imported[x.Name]; dir != nil && !dir.declares[sel.Sel.Name] {
				t.Errorf("%s: %s.%s is not declared", name, x.Name, sel.Sel.Name)
			}
		}
		return true
	})
}
