package repotest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestImportGroups: imports stand in one group each for the standard library, third parties and ourselves, in this
// order.
func TestImportGroups(t *testing.T) {
	paths := modulePaths(t)
	checked := 0
	for _, file := range files(t, ".go") {
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, filepath.Join(root, file), nil, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if ast.IsGenerated(f) {
			continue
		}
		checked++
		origins := groups(set, f, ours(paths, path.Dir(file)))
		if !slices.IsSorted(origins) || len(slices.Compact(slices.Clone(origins))) < len(origins) {
			t.Errorf("%s: import groups are %v, not one each of %v in this order", file, origins, []origin{standard, third, own})
		}
	}
	if checked < 100 {
		t.Errorf("checked only %d files", checked)
	}
}

// An origin is where a package comes from.
type origin int

const (
	standard origin = iota
	third
	own
	mixed // of a group with packages of several
)

func (o origin) String() string { return [...]string{"standard", "third party", "ours", "mixed"}[o] }

// ours returns the paths below which imports of a package are our own: all of the repository's modules, but examples
// are users' code, where only their own is.
func ours(paths map[string]string, dir string) []string {
	home := homeOf(paths, dir)
	if strings.HasPrefix(home, "examples/") {
		return []string{paths[home]}
	}
	return slices.Collect(maps.Values(paths))
}

// groups returns the origin of each group of a file's imports. Lines of comments belong to the import that follows.
func groups(set *token.FileSet, f *ast.File, ours []string) []origin {
	var found []origin
	last := -1 // the line where the import before ends
	for _, i := range f.Imports {
		start := i.Pos()
		if i.Doc != nil {
			start = i.Doc.Pos()
		}
		from := originOf(strings.Trim(i.Path.Value, `"`), ours)
		if set.Position(start).Line > last+1 {
			found = append(found, from)
		} else if found[len(found)-1] != from {
			found[len(found)-1] = mixed
		}
		last = set.Position(i.End()).Line
	}
	return found
}

func originOf(imp string, ours []string) origin {
	for _, o := range ours {
		if imp == o || strings.HasPrefix(imp, o+"/") {
			return own
		}
	}
	if first, _, _ := strings.Cut(imp, "/"); strings.Contains(first, ".") {
		return third
	}
	return standard
}
