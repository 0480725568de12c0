package codebase

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"slices"
)

// Modules returns the path of the project's module and the paths that its go.mod requires.
func (c *Codebase) Modules() (own string, required []string) { return c.modulePath(), c.required() }

// Uses returns the exported names that the project's own module uses of other packages, by import path. It includes
// tests. Matters selects the packages. Files that do not parse are left to the compiler.
func (c *Codebase) Uses(matters func(pkg string) bool) (map[string][]string, error) {
	folders, err := c.folders()
	used, fset := map[string][]string{}, token.NewFileSet()
	for _, folder := range folders {
		if folder.module != "." {
			continue
		}
		for _, name := range slices.Concat(folder.files, folder.tests) {
			text, err := c.view.ReadFile(path.Join(folder.dir, name))
			if err != nil {
				continue
			}
			names := importedAs(fset, text, matters)
			if len(names) == 0 {
				continue
			}
			file, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
			if err != nil {
				continue
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.IsExported() {
					if x, ok := s.X.(*ast.Ident); ok && names[x.Name] != "" {
						used[names[x.Name]] = append(used[names[x.Name]], s.Sel.Name)
					}
				}
				return true
			})
		}
	}
	return used, err
}

// importedAs returns the imports of a file that matter, by local name.
func importedAs(fset *token.FileSet, text []byte, matters func(pkg string) bool) map[string]string {
	file, err := parser.ParseFile(fset, "", text, parser.ImportsOnly)
	if err != nil {
		return nil
	}
	names := ImportsOf(file)
	maps.DeleteFunc(names, func(name, pkg string) bool { return name == "_" || name == "." || !matters(pkg) })
	return names
}
