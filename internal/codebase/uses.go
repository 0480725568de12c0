package codebase

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"slices"
)

// Modules are the path of the project's module and those of the modules that its go.mod requires.
func (c *Codebase) Modules() (own string, required []string) { return c.modulePath(), c.required() }

// Uses are the exported names that the project's own module uses of packages, its tests too, by import path. The
// function says which packages matter. A file that is not Go is left to the compiler.
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

// importedAs are those of a file's imports that matter, by the names that the file calls them.
func importedAs(fset *token.FileSet, text []byte, matters func(pkg string) bool) map[string]string {
	file, err := parser.ParseFile(fset, "", text, parser.ImportsOnly)
	if err != nil {
		return nil
	}
	names := ImportsOf(file)
	maps.DeleteFunc(names, func(name, pkg string) bool { return name == "_" || name == "." || !matters(pkg) })
	return names
}
