package gofile

import (
	"fmt"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"slices"
	"strconv"
)

// Imports maps the import paths of a file to the names they have in it.
type Imports map[string]string

// ImportsOf reads the imports of a file; one that does not parse has none.
func ImportsOf(src []byte) Imports {
	imports := Imports{}
	file, err := parser.ParseFile(token.NewFileSet(), "", src, parser.ImportsOnly)
	if err != nil {
		return imports
	}
	for _, spec := range file.Imports {
		pkg, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		imports[pkg] = path.Base(pkg)
		if spec.Name != nil {
			imports[pkg] = spec.Name.Name
		}
	}
	return imports
}

// Names says what a package is called that a file imports without a name: what its package clause says, which need not
// be the last part of its path.
func (i Imports) Names(src []byte, pkg, name string) Imports {
	file, err := parser.ParseFile(token.NewFileSet(), "", src, parser.ImportsOnly)
	if err != nil || name == "" {
		return i
	}
	for _, spec := range file.Imports {
		if spec.Name == nil && spec.Path.Value == strconv.Quote(pkg) {
			i[pkg] = name
		}
	}
	return i
}

// Name is the name of a package in the file: the one it is imported under, or else
// usual, with a number when another package has that name.
func (i Imports) Name(pkg, usual string) string {
	if name, ok := i[pkg]; ok && name != "_" && name != "." {
		return name
	}
	used := slices.Collect(maps.Values(i))
	for n, name := 2, usual; ; n++ {
		if !slices.Contains(used, name) {
			return name
		}
		name = fmt.Sprintf("%s%d", usual, n)
	}
}
