package dependency

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"

	"github.com/slipway-dev/slipway/internal/finite"
	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/sourcefolder"
)

// uses are the exported names that a project uses of packages, by import path.
type uses map[string]map[string]bool

func (u uses) add(pkg, name string) {
	if u[pkg] == nil {
		u[pkg] = map[string]bool{}
	}
	u[pkg][strings.TrimSuffix(name, "List")] = true
	u[pkg][name] = true
}

// versioned are the last elements of packages of API types: that of a version.
var versioned = lazy.Regexp(`^v[0-9]+((alpha|beta)[0-9]+)?$`)

// served are the modules that the API server itself serves the kinds of, or that have none.
var served = []string{"k8s.io/api", "k8s.io/apimachinery", "k8s.io/apiextensions-apiserver", "k8s.io/kube-aggregator", "k8s.io/client-go", "k8s.io/metrics"}

// maxFiles bounds how many Go files of a project are read.
const maxFiles = 50_000

// usesOf reads the project's Go files for what they use of packages that may have kinds.
func usesOf(p Project) (uses, error) {
	found := uses{}
	for _, r := range p.External {
		if r.Kind != "" && !isServed(r.Path) && module.CheckImportPath(r.Path) == nil {
			found.add(r.Path, r.Kind)
		}
	}
	modules := modulesOf(p.Root)
	fset, left := token.NewFileSet(), maxFiles
	err := filepath.WalkDir(p.Root, func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil && file != p.Root:
			return nil // what cannot be read is no part of a build
		case err != nil:
			return err
		case entry.IsDir():
			return enter(p.Root, file)
		case !strings.HasSuffix(file, ".go") || !entry.Type().IsRegular():
			return nil
		}
		if left--; left < 0 {
			return &report.Error{What: "the project has more Go files than slipway supports", Where: p.Root, Hint: "the limit is " + strconv.Itoa(maxFiles)}
		}
		found.read(fset, file, modules)
		return nil
	})
	return found, err
}

// enter skips folders that are no part of the project's module.
func enter(root, dir string) error {
	if dir != root && (sourcefolder.WithoutCode(filepath.Base(dir)) || sourcefolder.IsModule(dir)) {
		return fs.SkipDir
	}
	return nil
}

// modulesOf are the modules that go.mod names: its own, with a true value, and those that it requires. Their roots,
// such as example.com/patch/v5, look like packages of a version.
func modulesOf(root string) map[string]bool {
	text, err := finite.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return nil
	}
	parsed, err := modfile.ParseLax("go.mod", text, nil)
	if err != nil || parsed.Module == nil { // the go command says what is wrong with it
		return nil
	}
	modules := map[string]bool{parsed.Module.Mod.Path: true}
	for _, r := range parsed.Require {
		modules[r.Mod.Path] = false
	}
	return modules
}

// candidate reports whether a package may have kinds of another module.
func candidate(pkg string, modules map[string]bool) bool {
	if _, isModule := modules[pkg]; isModule || isServed(pkg) || !versioned().MatchString(path.Base(pkg)) {
		return false
	}
	first, _, _ := strings.Cut(pkg, "/")
	if !strings.Contains(first, ".") {
		return false // of the standard library
	}
	for path, own := range modules {
		if own && strings.HasPrefix(pkg, path+"/") {
			return modulesBelow(pkg, path, modules)
		}
	}
	return true
}

// modulesBelow reports whether a package below the project's own module is of another module that go.mod requires.
func modulesBelow(pkg, own string, modules map[string]bool) bool {
	for path := range modules {
		if strings.HasPrefix(path, own+"/") && strings.HasPrefix(pkg, path+"/") {
			return true
		}
	}
	return false
}

func isServed(pkg string) bool {
	for _, path := range served {
		if pkg == path || strings.HasPrefix(pkg, path+"/") {
			return true
		}
	}
	return false
}

// read adds what a file uses. A file that is not Go is left to the compiler.
func (u uses) read(fset *token.FileSet, file string, modules map[string]bool) {
	text, err := finite.ReadFile(file)
	if err != nil {
		return
	}
	names := candidates(fset, file, text, modules)
	if len(names) == 0 {
		return
	}
	parsed, err := parser.ParseFile(fset, file, text, parser.SkipObjectResolution)
	if err != nil {
		return
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := s.X.(*ast.Ident); ok && names[x.Name] != "" && s.Sel.IsExported() {
			u.add(names[x.Name], s.Sel.Name)
		}
		return true
	})
}

// candidates are the imports of a file that may have kinds, by their names in the file.
func candidates(fset *token.FileSet, file string, text []byte, modules map[string]bool) map[string]string {
	parsed, err := parser.ParseFile(fset, file, text, parser.ImportsOnly)
	if err != nil {
		return nil
	}
	names := map[string]string{}
	for _, spec := range parsed.Imports {
		pkg, err := strconv.Unquote(spec.Path.Value)
		if err != nil || !candidate(pkg, modules) || module.CheckImportPath(pkg) != nil {
			continue
		}
		name := path.Base(pkg)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = pkg
	}
	maps.DeleteFunc(names, func(name, _ string) bool { return name == "_" || name == "." })
	return names
}
