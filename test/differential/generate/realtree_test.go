package generate

import (
	"bytes"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/slipway-dev/slipway/bench/fetch"
)

const (
	headerName   = "header-of-ours.txt"
	deepCopyName = "zz_generated.deepcopy.go"
)

// realTree is a copy of a project, in which programs write.
type realTree struct {
	dir    string
	before map[string][]byte // its files as they are before a run
}

// fetch copies the project's module to a folder that can be written to, with what it nests.
func (p realProject) fetch(t *testing.T) *realTree {
	t.Helper()
	dir := fetchModule(t, p.module)
	for folder, module := range p.nested {
		if err := fetch.Tree(fetchModule(t, module), filepath.Join(dir, folder)); err != nil {
			t.Fatal(err)
		}
	}
	writeFiles(t, dir, map[string]string{headerName: "// Somebody holds the rights.\n"})
	tree := &realTree{dir: dir}
	tree.before = readTree(t, dir)
	if p.exempt {
		tree.exemptInterfaces(t)
	}
	return tree
}

// fetchModule is a copy of a module.
func fetchModule(t *testing.T, module string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "module")
	err := fetch.Module(t.Context(), module, dir)
	if errors.Is(err, fetch.ErrNotAvailable) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

var exportedInterface = regexp.MustCompile(`(?m)^type [A-Z]\w* interface\b`)

func (tree *realTree) exemptInterfaces(t *testing.T) {
	t.Helper()
	for name, content := range tree.before {
		if !strings.HasSuffix(name, ".go") || !exportedInterface.Match(content) {
			continue
		}
		tree.before[name] = exportedInterface.ReplaceAll(content, []byte("// +kubebuilder:object:generate=false\n$0"))
		writeFiles(t, tree.dir, map[string]string{name: string(tree.before[name])})
	}
}

// run runs a program in the tree and puts back what it changed. The go command, which controller-gen calls, may
// complete go.mod and go.sum.
func (tree *realTree) run(t *testing.T, program string, args ...string) realResult {
	t.Helper()
	defer tree.restore(t)
	r := realResult{changed: make(map[string][]byte)}
	r.outcome = executeIn(t.Context(), t, tree.dir, tree.environment(), program, args...)
	for name, content := range readTree(t, tree.dir) {
		if was, found := tree.before[name]; found && bytes.Equal(was, content) || isModuleFile(name) {
			continue
		}
		r.changed[name] = content
	}
	return r
}

func isModuleFile(name string) bool {
	switch filepath.Base(name) {
	case "go.mod", "go.sum":
		return true
	}
	return false
}

func (tree *realTree) environment() []string {
	return append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
}

// restore makes the tree what it was, but for go.mod and go.sum.
func (tree *realTree) restore(t *testing.T) {
	t.Helper()
	for name, content := range readTree(t, tree.dir) {
		was, found := tree.before[name]
		path := filepath.Join(tree.dir, name)
		switch {
		case isModuleFile(name), found && bytes.Equal(was, content):
		case found:
			writeFiles(t, tree.dir, map[string]string{name: string(was)})
		default:
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
		}
	}
}

// typeCheck does what a compiler does before it makes code, to the packages whose DeepCopy methods were written, and
// returns their mistakes. To compile what all these projects import would take hours.
func (tree *realTree) typeCheck(t *testing.T, files map[string][]byte) []packages.Error {
	t.Helper()
	defer tree.restore(t)
	patterns := make(map[string][]string) // by the module's folder
	for name, content := range files {
		if filepath.Base(name) != deepCopyName {
			continue
		}
		writeFiles(t, tree.dir, map[string]string{name: string(content)})
		module := tree.moduleOf(filepath.Dir(name))
		pkg, err := filepath.Rel(module, filepath.Dir(name))
		if err != nil {
			t.Fatal(err)
		}
		patterns[module] = append(patterns[module], "./"+filepath.ToSlash(pkg))
	}
	var mistakes []packages.Error
	for module, pkgs := range patterns {
		mistakes = append(mistakes, tree.mistakes(t, filepath.Join(tree.dir, module), pkgs)...)
	}
	t.Logf("DeepCopy methods in %d modules checked, %d mistakes", len(patterns), len(mistakes))
	return mistakes
}

// moduleOf is the folder of the module that a package belongs to.
func (tree *realTree) moduleOf(pkg string) string {
	for dir := pkg; dir != "."; dir = filepath.Dir(dir) {
		if tree.before[filepath.Join(dir, "go.mod")] != nil {
			return dir
		}
	}
	return "."
}

// mistakes are those that a type checker finds in packages of a module, and not in what they import.
func (tree *realTree) mistakes(t *testing.T, module string, patterns []string) []packages.Error {
	t.Helper()
	checked, err := packages.Load(&packages.Config{
		Context:   t.Context(),
		Dir:       module,
		Env:       tree.environment(),
		Mode:      packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps | packages.NeedSyntax | packages.NeedTypes,
		ParseFile: tree.parseFile,
	}, patterns...)
	if err != nil {
		t.Fatal(err)
	}
	if len(checked) != len(patterns) {
		t.Errorf("%d packages checked of %d", len(checked), len(patterns))
	}
	var found []packages.Error
	for _, pkg := range checked {
		found = append(found, pkg.Errors...)
	}
	return found
}

// parseFile leaves out the bodies of functions of what the project imports.
func (tree *realTree) parseFile(set *token.FileSet, path string, source []byte) (*ast.File, error) {
	file, err := parser.ParseFile(set, path, source, parser.SkipObjectResolution)
	if file != nil && !strings.HasPrefix(path, tree.dir) {
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok {
				f.Body = nil
			}
		}
	}
	return file, err
}
