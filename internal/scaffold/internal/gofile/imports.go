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

// Imports maps the import paths of a file to the names that the packages have in it.
type Imports map[string]string

// ImportsOf reads the imports of a file; none if it does not parse. Without a name in the import, it takes the last
// element of the path.
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

// Names sets the name of a package that the file imports without one. Name comes from the package clause, and may
// differ from the path's last element.
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

// Name returns the name of a package in the file. If it is not imported, Name returns usual, with a number if another
// package has that name.
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

// Requalified returns declarations in which packages have other names. Names maps the present names to the new ones.
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
		if !ok || pkg.Obj != nil || names[pkg.Name] == "" { // a variable, or a package that keeps its name
			return true
		}
		at := set.Position(pkg.Pos()).Offset - len(head)
		out.WriteString(code[done:at] + names[pkg.Name])
		done = at + len(pkg.Name)
		return true
	})
	return out.String() + code[done:]
}
