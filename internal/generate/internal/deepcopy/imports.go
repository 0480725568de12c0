package deepcopy

import (
	"fmt"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/slipway-dev/slipway/internal/generate/internal/load"
)

// imports gives names to the packages that the generated file uses. The first
// package to ask for a name gets it; the next gets a longer one.
type imports struct {
	of     *load.Package
	byPath map[string]string
	byName map[string]string
}

// newImports begins with the package's own name taken.
func newImports(of *load.Package) *imports {
	return &imports{of: of, byPath: make(map[string]string), byName: map[string]string{of.Name(): ""}}
}

// name is what the package at an import path is called in the generated file:
// as many of the last parts of its path as make it unique.
func (i *imports) name(importPath string) string {
	if known, found := i.byPath[importPath]; found {
		return known
	}
	name, rest, next := "", "", ""
	rest, next = path.Split(importPath)
	for taken := true; taken; _, taken = i.byName[name] {
		if rest == "" { // no parts are left
			name += "x"
		}
		next = identifier(next)
		name = next + name
		if rest != "" {
			rest, next = path.Split(strings.TrimSuffix(rest, "/"))
		}
	}
	i.byPath[importPath] = name
	i.byName[name] = importPath
	return name
}

// identifier makes a part of an import path a part of a Go identifier.
func identifier(part string) string {
	part = strings.TrimLeftFunc(part, unicode.IsDigit)
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' {
			return r
		}
		return '_'
	}, part)
}

// specs are the import specifications, by path. A name is left out where it is
// the package's own, provided that the package's other files import it too.
func (i *imports) specs() []string {
	var specs []string
	for _, importPath := range slices.Sorted(maps.Keys(i.byPath)) {
		name := i.byPath[importPath]
		if i.isOwnName(importPath, name) {
			specs = append(specs, strconv.Quote(importPath))
		} else {
			specs = append(specs, fmt.Sprintf("%s %q", name, importPath))
		}
	}
	return specs
}

func (i *imports) isOwnName(importPath, name string) bool {
	if !i.isImported(importPath) {
		return false
	}
	p, err := i.of.Import(importPath)
	return err == nil && p.Name() == name
}

// isImported reports whether a file of the package imports the path. Files that
// the loader did not have to parse are read up to their imports.
func (i *imports) isImported(importPath string) bool {
	quoted := strconv.Quote(importPath)
	parsed := make(map[string]bool)
	for _, f := range i.of.Files() {
		parsed[f.Path] = true
		for _, spec := range f.Syntax.Imports {
			if spec.Path.Value == quoted {
				return true
			}
		}
	}
	for _, file := range i.of.GoFiles() {
		if !parsed[file] && importsIn(file, quoted) {
			return true
		}
	}
	return false
}

func importsIn(file, quoted string) bool {
	syntax, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		return false // then it imports nothing that could be used
	}
	for _, spec := range syntax.Imports {
		if spec.Path.Value == quoted {
			return true
		}
	}
	return false
}
