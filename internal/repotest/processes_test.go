package repotest_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// starting are the names by which a program is started, by the package that has them.
var starting = map[string][]string{
	"os/exec":               {"Command", "CommandContext", "Cmd"},
	"os":                    {"StartProcess"},
	"syscall":               {"Exec", "ForkExec", "StartProcess"},
	"golang.org/x/sys/unix": {"Exec"},
}

// doors are the packages that alone start programs, by the folders that this holds for: they refuse what strangers may
// change.
var doors = map[string]string{
	"internal/": "internal/process",
	"cmd/":      "internal/process",
	"project/":  "internal/process",
	"operator/": "operator/clustertest/internal/process",
}

// TestProgramsAreStartedInOnePlace: a package that starts programs by itself would start those of strangers.
func TestProgramsAreStartedInOnePlace(t *testing.T) {
	used := map[string]bool{}
	eachSource(t, func(file string, set *token.FileSet, f *ast.File) {
		door := doorOf(file)
		for _, place := range calls(f, starting) {
			used[path.Dir(file)] = true
			if path.Dir(file) != door {
				t.Errorf("%s: a program is started here: package %s does that", set.Position(place.Pos()), door)
			}
		}
	})
	for _, door := range doors {
		if !used[door] {
			t.Errorf("%s starts no program", door)
		}
	}
}

// TestGoIsCalledInOnePlace: package gocommand refuses what the go command would write through links. The module
// operator has one call of its own, and one for the tests of projects.
func TestGoIsCalledInOnePlace(t *testing.T) {
	places := map[string]bool{}
	eachSource(t, func(file string, set *token.FileSet, f *ast.File) {
		process := map[string][]string{module + "/internal/process": {"Command", "CommandContext"}, module + "/operator/clustertest/internal/process": {"Command", "CommandContext"}}
		for _, place := range calls(f, process) {
			if !startsGo(f, place) {
				continue
			}
			places[path.Dir(file)] = true
			if at := path.Dir(file); at != "internal/gocommand" && at != "operator/clustertest/internal/modulekinds" && at != "operator/clustertest" {
				t.Errorf("%s: package gocommand calls the go command", set.Position(place.Pos()))
			}
		}
	})
	if !places["internal/gocommand"] {
		t.Error("package gocommand does not call the go command")
	}
}

// doorOf is the package through which a file starts programs.
func doorOf(file string) string {
	for folder, door := range doors {
		if strings.HasPrefix(file, folder) {
			return door
		}
	}
	return ""
}

// eachSource parses the files that doors are for, tests apart.
func eachSource(t *testing.T, look func(file string, set *token.FileSet, f *ast.File)) {
	t.Helper()
	for _, file := range files(t, ".go") {
		if doorOf(file) == "" || strings.HasSuffix(file, "_test.go") || strings.Contains(file, "/_") {
			continue
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, filepath.Join(root, file), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		look(file, set, f)
	}
}

// calls are the selectors of a file that stand for one of the names of packages: in calls, composite literals and as
// values. Of a type, a pointer or a parameter is none.
func calls(f *ast.File, names map[string][]string) (found []*ast.SelectorExpr) {
	local := localNames(f)
	types := map[ast.Expr]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.StarExpr:
			types[n.X] = true
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && !types[n] && slices.Contains(names[local[x.Name]], n.Sel.Name) {
				found = append(found, n)
			}
		}
		return true
	})
	return found
}

// localNames are the import paths of a file by the names that it has for the packages.
func localNames(f *ast.File) map[string]string {
	names := map[string]string{}
	for _, i := range f.Imports {
		imp := strings.Trim(i.Path.Value, `"`)
		name := path.Base(imp)
		if i.Name != nil {
			name = i.Name.Name
		}
		names[name] = imp
	}
	return names
}

// startsGo reports whether an argument of the call at place is "go".
func startsGo(f *ast.File, place *ast.SelectorExpr) (is bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || call.Fun != place {
			return true
		}
		for _, argument := range call.Args {
			if literal, ok := argument.(*ast.BasicLit); ok {
				text, err := strconv.Unquote(literal.Value)
				is = is || err == nil && text == "go"
			}
		}
		return true
	})
	return is
}

// TestTrustIsTheSame: the modules share no code, and judge alike which programs are started.
func TestTrustIsTheSame(t *testing.T) {
	var texts [][]byte
	for _, dir := range []string{"internal/process", "operator/clustertest/internal/process"} {
		text, err := os.ReadFile(filepath.Join(root, dir, "trust_unix.go"))
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, text)
	}
	if !bytes.Equal(texts[0], texts[1]) {
		t.Error("internal/process/trust_unix.go differs from that of operator/clustertest/internal/process")
	}
}
