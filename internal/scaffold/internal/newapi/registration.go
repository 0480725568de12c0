package newapi

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/fileerror"
)

// A registration is how the types of a package get into a scheme, where the package says so already.
type registration struct {
	file         string // that declares SchemeBuilder; "" without one
	objects      bool   // Register takes objects: the builder is controller-runtime's
	groupVersion string // the name of the variable
}

// registrationIn reads it from the Go files of a folder. What does not parse says nothing.
func (a *planner) registrationIn(dir string) (registration, error) {
	found := registration{groupVersion: "GroupVersion"}
	entries, err := os.ReadDir(filepath.Join(a.Root(), filepath.FromSlash(dir)))
	if os.IsNotExist(err) {
		return found, nil
	}
	if err != nil {
		return found, fileerror.Unreadable(dir, err)
	}
	names := map[string]bool{}
	for _, entry := range entries {
		file := path.Join(dir, entry.Name())
		if !entry.Type().IsRegular() || path.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") {
			continue
		}
		c, err := a.Find(file)
		if err != nil {
			return found, err
		}
		found.add(file, c.After(), names)
	}
	if names["SchemeGroupVersion"] && !names["GroupVersion"] {
		found.groupVersion = "SchemeGroupVersion"
	}
	return found, nil
}

// add looks at the variables of one file.
func (r *registration) add(file string, src []byte, names map[string]bool) {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, src, parser.SkipObjectResolution)
	if err != nil {
		return
	}
	for _, decl := range parsed.Decls {
		vars, ok := decl.(*ast.GenDecl)
		if !ok || vars.Tok != token.VAR {
			continue
		}
		for _, spec := range vars.Specs {
			value := spec.(*ast.ValueSpec)
			for i, name := range value.Names {
				names[name.Name] = true
				if name.Name == "SchemeBuilder" {
					r.file, r.objects = file, i < len(value.Values) && isBuilder(value.Values[i])
				}
			}
		}
	}
}

// isBuilder reports whether an expression is a Builder of controller-runtime's package scheme.
func isBuilder(x ast.Expr) bool {
	if pointer, ok := x.(*ast.UnaryExpr); ok {
		x = pointer.X
	}
	literal, ok := x.(*ast.CompositeLit)
	if !ok {
		return false
	}
	name, ok := literal.Type.(*ast.SelectorExpr)
	return ok && name.Sel.Name == "Builder"
}
