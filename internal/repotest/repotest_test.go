// Package repotest_test holds the repository's own rules about code: what docs/architecture.md
// says of the structure is checked here, so that it stays true.
package repotest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"

	"github.com/slipway-dev/slipway/internal/repotest"
)

const (
	root   = "../.."
	module = "github.com/slipway-dev/slipway"
)

// A goPackage is a folder with Go files of its own (tests apart).
type goPackage struct {
	dir     string // slash-separated, relative to the root
	name    string
	doc     string
	imports []string
	written bool // by hand, at least in part
}

func TestPackagesHaveDocs(t *testing.T) {
	for _, p := range packages(t) {
		if p.written && len(p.doc) < 40 {
			t.Errorf("%s: package %s has no doc that guides its reader", p.dir, p.name)
		}
	}
}

func TestPackageNames(t *testing.T) {
	banned := []string{"util", "utils", "common", "helper", "helpers", "misc", "shared"}
	for _, p := range packages(t) {
		if slices.Contains(banned, p.name) {
			t.Errorf("%s: the name %q does not say what the package is", p.dir, p.name)
		}
	}
}

// TestModulesAreInstallable: `go install module@version` refuses modules with
// replace or exclude directives.
func TestModulesAreInstallable(t *testing.T) {
	for _, dir := range []string{".", "cluster", "operator"} {
		if f := goMod(t, dir); len(f.Replace)+len(f.Exclude) > 0 {
			t.Errorf("%s/go.mod has replace or exclude directives", dir)
		}
	}
}

// TestCommandStaysLight: the API server must never become part of the command.
func TestCommandStaysLight(t *testing.T) {
	for _, r := range goMod(t, ".").Require {
		if slices.Contains([]string{"k8s.io/kubernetes", "k8s.io/apiserver", "sigs.k8s.io/controller-runtime"}, r.Mod.Path) {
			t.Errorf("the command's module requires %s", r.Mod.Path)
		}
	}
}

// TestImagesHaveOneDoor: the packages below internal/image are its inside. The module that makes releases, which writes
// slipway's own image, uses them too, codebase reads Dockerfiles, and anybody may judge a name.
func TestImagesHaveOneDoor(t *testing.T) {
	const inside = module + "/internal/image/"
	for _, p := range packages(t) {
		if p.dir == "internal/image" || strings.HasPrefix(p.dir, "internal/image/") || p.dir == "release/internal/container" {
			continue
		}
		for _, imp := range p.imports {
			if name, ok := strings.CutPrefix(imp, inside); ok && name != "reference" && (p.dir != "internal/codebase" || name != "dockerfile") {
				t.Errorf("%s imports %s, the inside of internal/image", p.dir, imp)
			}
		}
	}
}

func goMod(t *testing.T, dir string) *modfile.File {
	t.Helper()
	file := filepath.Join(root, dir, "go.mod")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	f, err := modfile.Parse(file, text, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// modules returns the folders of all modules in the repository, relative to its root.
func modules(t *testing.T) []string {
	t.Helper()
	var dirs []string
	for _, file := range files(t, "go.mod") {
		dirs = append(dirs, path.Dir(file))
	}
	if len(dirs) < 5 {
		t.Fatalf("found only %d modules", len(dirs))
	}
	return dirs
}

func files(t *testing.T, suffix string) []string {
	t.Helper()
	return repotest.Files(t, root, suffix)
}

func readText(t *testing.T, file string) string {
	t.Helper()
	return repotest.Text(t, root, file)
}

// packages returns every package of every module in the repository. As for the go command, there are none in folders
// that begin with an underscore: these hold sources that are embedded.
func packages(t *testing.T) []goPackage {
	t.Helper()
	byDir := map[string]*goPackage{}
	for _, file := range files(t, ".go") {
		if strings.HasSuffix(file, "_test.go") || strings.Contains(file, "/_") {
			continue
		}
		if err := add(byDir, file); err != nil {
			t.Fatal(err)
		}
	}
	var all []goPackage
	for _, dir := range slices.Sorted(maps.Keys(byDir)) {
		all = append(all, *byDir[dir])
	}
	if len(all) < 10 {
		t.Fatalf("found only %d packages", len(all))
	}
	return all
}

func add(byDir map[string]*goPackage, file string) error {
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.ImportsOnly|parser.ParseComments)
	if err != nil {
		return err
	}
	dir := path.Dir(file)
	p := byDir[dir]
	if p == nil {
		p = &goPackage{dir: dir, name: f.Name.Name}
		byDir[dir] = p
	}
	p.doc += f.Doc.Text()
	p.written = p.written || !ast.IsGenerated(f)
	for _, i := range f.Imports {
		p.imports = append(p.imports, path.Clean(strings.Trim(i.Path.Value, `"`)))
	}
	return nil
}

// TestOperatorStandsAlone: an operator's tests neither compile the API server nor anything of the command.
func TestOperatorStandsAlone(t *testing.T) {
	for _, r := range goMod(t, "operator").Require {
		if r.Mod.Path == "k8s.io/kubernetes" || r.Mod.Path == module || strings.HasPrefix(r.Mod.Path, module+"/") {
			t.Errorf("the module operator requires %s", r.Mod.Path)
		}
	}
}
