package setupenvtest

import (
	"bytes"
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/sourcefolder"
)

// Download is a suite that has envtest download its programs: its DownloadBinaryAssets is true or may be, and envtest
// then does not look at KUBEBUILDER_ASSETS. It downloads nothing if the suite names a folder and an exact version, and
// the folder has that version (controller-runtime v0.25, pkg/envtest/binaries.go).
type Download struct {
	report.Position         // of the value of DownloadBinaryAssets
	Certain         bool    // the value is true, without a run of the suite
	Folder          string  // absolute; of the versions; empty if only running the suite shows it
	Version         Version // zero if there is no exact one
	Asked           string  // what the suite reports about the version, as Go
}

// Exact reports whether the suite works with a folder that is made before.
func (d Download) Exact() bool { return d.Folder != "" && d.Version != Version{} }

// Path is the folder of the version, whether it is there or not.
func (d Download) Path() string { return Store{items: d.Folder}.Path(Item{d.Version, Host()}) }

// Names of envtest's package and of what a suite says.
const (
	envtestPackage = "sigs.k8s.io/controller-runtime/pkg/envtest"
	downloadField  = "DownloadBinaryAssets"
	folderField    = "BinaryAssetsDirectory"
	versionField   = "DownloadBinaryAssetsVersion"
	usualFolder    = "SetupEnvtestDefaultBinaryAssetsDirectory"
)

// Downloads finds the suites of a module that have envtest download, without those of modules nested in it, which no
// `go test ./...` reaches. Files that are not Go are left to the compiler.
func Downloads(module *fileview.Folder, getenv func(string) string) ([]Download, error) {
	var all []Download
	err := fs.WalkDir(module, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil && name != ".":
			return nil // what cannot be read is no part of a build
		case err != nil:
			return err
		}
		file := filepath.Join(module.Root(), filepath.FromSlash(name))
		switch {
		case entry.IsDir() && name != "." && (sourcefolder.WithoutCode(entry.Name()) || sourcefolder.IsModule(file)):
			return fs.SkipDir
		case !strings.HasSuffix(name, ".go") || !entry.Type().IsRegular():
			return nil
		}
		text, err := module.ReadFile(name)
		if err != nil || !bytes.Contains(text, []byte(downloadField)) {
			return nil
		}
		all = append(all, readSuite(file, text, getenv)...)
		return nil
	})
	return all, err
}

// suite is a file that may have envtest download.
type suite struct {
	fset   *token.FileSet
	file   string
	getenv func(string) string
	values map[string]ast.Expr // of names that are given one value
	left   *int                // how many more expressions are looked at
}

// readSuite finds what a file says in composite literals of envtest's Environment and in assignments to their fields.
func readSuite(file string, text []byte, getenv func(string) string) []Download {
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, file, text, parser.SkipObjectResolution)
	if err != nil || !imports(parsed, envtestPackage) {
		return nil
	}
	s := suite{fset: fset, file: file, getenv: getenv, values: map[string]ast.Expr{}, left: new(mostParts)}
	said := map[string]map[string]ast.Expr{} // of an Environment, by field
	var keys []string
	note := func(owner, field string, value ast.Expr) {
		if said[owner] == nil {
			said[owner] = map[string]ast.Expr{}
			keys = append(keys, owner)
		}
		said[owner][field] = value
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			for i, name := range n.Names {
				s.give(name.Name, n.Values, i)
			}
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				s.assign(left, n.Rhs, i, note)
			}
		case *ast.CompositeLit:
			owner := "at " + strconv.Itoa(int(n.Pos()))
			for _, element := range n.Elts {
				pair, ok := element.(*ast.KeyValueExpr)
				if key, isName := pairKey(pair); ok && isName {
					note(owner, key, pair.Value)
				}
			}
		}
		return true
	})
	var all []Download
	for _, owner := range keys {
		fields := said[owner]
		if value, decided := s.truth(fields[downloadField], 0); fields[downloadField] != nil && (value || !decided) {
			all = append(all, s.download(fields, decided))
		}
	}
	return all
}

func imports(file *ast.File, pkg string) bool {
	for _, spec := range file.Imports {
		if path, err := strconv.Unquote(spec.Path.Value); err == nil && path == pkg {
			return true
		}
	}
	return false
}

// pairKey is the field that a pair of a composite literal is for.
func pairKey(pair *ast.KeyValueExpr) (string, bool) {
	if pair == nil {
		return "", false
	}
	name, ok := pair.Key.(*ast.Ident)
	if !ok {
		return "", false
	}
	return name.Name, true
}

// give keeps the value of a name; names with several values count as unknown.
func (s suite) give(name string, values []ast.Expr, i int) {
	var value ast.Expr
	switch {
	case len(values) > i:
		value = values[i]
	case len(values) == 1 && i == 0:
		value = values[0] // of a call with several results
	}
	if _, known := s.values[name]; known {
		value = nil
	}
	s.values[name] = value
}

// assign takes an assignment to a name, or to a field of one.
func (s suite) assign(left ast.Expr, values []ast.Expr, i int, note func(owner, field string, value ast.Expr)) {
	switch left := left.(type) {
	case *ast.Ident:
		s.give(left.Name, values, i)
	case *ast.SelectorExpr:
		if i < len(values) {
			note(ownerName(left.X), left.Sel.Name, values[i])
		}
	}
}

// download is what the fields of an Environment say.
func (s suite) download(fields map[string]ast.Expr, certain bool) Download {
	at := s.fset.Position(fields[downloadField].Pos())
	d := Download{Position: report.Position{File: s.file, Line: at.Line, Column: at.Column}, Certain: certain}
	if folder, ok := s.text(fields[folderField], 0); ok && folder != "" {
		if !filepath.IsAbs(folder) {
			folder = filepath.Join(filepath.Dir(s.file), folder) // where go test runs a suite
		}
		d.Folder = filepath.Clean(folder)
	}
	if version, ok := s.text(fields[versionField], 0); ok {
		d.Asked = version
		d.Version, _ = parseVersion(strings.TrimPrefix(version, "v"))
	}
	return d
}

// Bounds of what a suite says of its folder: names may lead to each other many times.
const (
	deepest   = 8      // names and calls within each other
	mostParts = 10_000 // expressions of one file
)

// text is the value of an expression that is a text, a name of one, filepath.Join of texts, or envtest's usual folder.
func (s suite) text(e ast.Expr, depth int) (string, bool) {
	if *s.left--; *s.left < 0 || depth > deepest {
		return "", false
	}
	switch e := e.(type) {
	case *ast.BasicLit:
		value, err := strconv.Unquote(e.Value)
		return value, err == nil && e.Kind == token.STRING
	case *ast.Ident:
		return s.text(s.values[e.Name], depth+1)
	case *ast.CallExpr:
		return s.call(e, depth)
	}
	return "", false
}

func (s suite) call(e *ast.CallExpr, depth int) (string, bool) {
	function, ok := e.Fun.(*ast.SelectorExpr)
	if !ok {
		return "", false
	}
	if function.Sel.Name == usualFolder {
		dir, err := DefaultDir(s.getenv)
		return filepath.Join(dir, "k8s"), err == nil
	}
	if pkg, isName := function.X.(*ast.Ident); !isName || pkg.Name != "filepath" && pkg.Name != "path" || function.Sel.Name != "Join" {
		return "", false
	}
	var parts []string
	for _, arg := range e.Args {
		part, ok := s.text(arg, depth+1)
		if !ok {
			return "", false
		}
		parts = append(parts, part)
	}
	return filepath.Join(parts...), true
}

// complete reports whether a folder has all programs.
func complete(folder string) bool {
	for _, name := range names {
		if _, err := os.Stat(filepath.Join(folder, fileName(name))); err != nil {
			return false
		}
	}
	return true
}

// Provide makes the folder that a suite has envtest look in before it downloads, and reports whether it made it. The
// embedded version stands in for one that is at most [Skew] minors older, as in [Tool.Use]. Programs that are there
// already stay.
func (t Tool) Provide(ctx context.Context, d Download) (folder string, made bool, err error) {
	item := Item{d.Version, Host()}
	store := Store{items: d.Folder}
	folder = d.Path()
	if _, ours := readMarker(folder); !ours && complete(folder) {
		return folder, false, nil
	}
	dir, err := t.Programs(ctx)
	if err != nil {
		return folder, false, err
	}
	programs, err := programs(dir)
	if err != nil || current(folder, programs) {
		return folder, false, err
	}
	return folder, true, store.link(item, programs)
}

// StandsIn reports whether the embedded version serves a suite that asks for another one.
func StandsIn(v Version) bool {
	selector, err := ParseSelector(v.String())
	return err == nil && (selector.Matches(embedded()) || selector.standIn(embedded()))
}
