package gofile

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
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

// Requalified is code of declarations in which packages have other names, by the names that they have in it.
func Requalified(code string, names map[string]string) string {
	const head = "package p\n"
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", head+code, 0)
	if err != nil {
		return code
	}
	out, done := strings.Builder{}, 0
	ast.Inspect(file, func(n ast.Node) bool {
		selected, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		pkg, ok := selected.X.(*ast.Ident)
		if !ok || pkg.Obj != nil || names[pkg.Name] == "" { // a variable of that name is none
			return true
		}
		at := set.Position(pkg.Pos()).Offset - len(head)
		out.WriteString(code[done:at] + names[pkg.Name])
		done = at + len(pkg.Name)
		return true
	})
	return out.String() + code[done:]
}
