package codebase

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"

	"golang.org/x/mod/semver"

	"github.com/slipway-dev/slipway/internal/generate/arguments"
	"github.com/slipway-dev/slipway/internal/makefile"
	"github.com/slipway-dev/slipway/internal/recipe"
)

// ControllerGen is a version of controller-gen that the project names, and what names it.
type ControllerGen struct {
	Version string // such as v0.17.3, or what names no single version, such as latest
	Source  string // continues with the version: "the Makefile asks for"
}

// IsOne reports whether the version is a single one, whatever is published later.
func (c ControllerGen) IsOne() bool { return semver.Canonical(c.Version) == c.Version }

// ControllerGens returns the versions of controller-gen that the project's files name, in the order in which they
// count: the Makefile or another file with calls, the tools of go.mod, tools.go.
func (c *Codebase) ControllerGens() ([]ControllerGen, error) {
	generation, err := c.Generation()
	if err != nil {
		return nil, err
	}
	var found []ControllerGen
	add := func(version, source string) {
		if version != "" && len(version) <= maxVersion {
			found = append(found, ControllerGen{version, source})
		}
	}
	add(cmp.Or(generation.Tool.Version, generation.Tool.Moving), "the Makefile asks for")
	if len(found) > 0 && len(generation.Calls) > 0 && generation.Calls[0].File != makefile.Name {
		found[0].Source = generation.Calls[0].File + " asks for"
	}
	add(generation.Tool.Other, "it also asks for")
	pkg := arguments.Program().Package
	add(recipe.Tool(c.view, pkg), "the tools of go.mod have")
	for _, name := range toolFiles {
		if c.imports(name, pkg) {
			add(recipe.RequiredIn(c.view, path.Dir(name), pkg), name+" imports")
		}
	}
	return found, nil
}

// maxVersion is the greatest length of a version that counts, in bytes.
const maxVersion = 64

// toolFiles are where projects import programs that they do not link, so that go.mod has their versions.
var toolFiles = []string{"tools.go", "hack/tools.go", "tools/tools.go", "hack/tools/tools.go", "internal/tools/tools.go"}

// imports reports whether a Go file of the project imports a package.
func (c *Codebase) imports(name, pkg string) bool {
	content, err := c.view.ReadFile(name)
	if err != nil {
		return false
	}
	file, err := parser.ParseFile(token.NewFileSet(), name, content, parser.ImportsOnly)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(file.Imports, func(spec *ast.ImportSpec) bool { return spec.Path.Value == strconv.Quote(pkg) })
}
