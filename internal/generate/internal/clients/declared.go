package clients

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"

	"github.com/slipway-dev/slipway/internal/generate/internal/generator"
	"github.com/slipway-dev/slipway/internal/generate/internal/load"
)

// metaPath is the package of the types that objects embed.
const metaPath = "k8s.io/apimachinery/pkg/apis/meta/v1"

// embedsMetadata reports whether objects of a type have metav1's TypeMeta and ObjectMeta. Unlike a kind with a CRD, it
// may have been given the fields of another version's type: type Boat v1.Boat.
func embedsMetadata(d *load.TypeDecl) bool {
	found := make(map[string]bool)
	for _, f := range d.Type().Underlying().StructFields() {
		if t := f.Type.Unalias(); f.Embedded && t.Kind == load.Named && t.Decl.Package.Path == metaPath {
			found[t.Decl.Name()] = true
		}
	}
	return found["TypeMeta"] && found["ObjectMeta"]
}

// declared are the names of the package's functions and variables, wherever they come from: register-gen writes what
// clients need into a file that generators do not read otherwise.
func (v *apiVersion) declared(pass *generator.Pass) map[string]bool {
	names := make(map[string]bool)
	for _, path := range v.compiled() {
		text, err := pass.Loader.ReadFile(path)
		if err != nil {
			continue // told by the loader
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution)
		if err != nil {
			continue // told by the loader
		}
		for _, d := range file.Decls {
			addNames(names, d)
		}
	}
	return names
}

// compiled are the package's files as a compiler has them, but for the one that helpers writes.
func (v *apiVersion) compiled() []string {
	files := v.GoFiles()
	entries, _ := os.ReadDir(v.Dir) // it has been read
	for _, e := range entries {
		path := filepath.Join(v.Dir, e.Name())
		if e.Name() == helpersFile || !v.Loader().LeftOut(path) {
			continue
		}
		if matched, err := build.Default.MatchFile(v.Dir, e.Name()); matched && err == nil {
			files = append(files, path)
		}
	}
	return files
}

func addNames(names map[string]bool, d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			names[d.Name.Name] = true
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			if value, ok := spec.(*ast.ValueSpec); ok {
				for _, name := range value.Names {
					names[name.Name] = true
				}
			}
		}
	}
}
