package load

import (
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strconv"
)

// InBuildOrder returns the roots in the order in which controller-gen gets them from `go list -deps`: each after those
// that it needs, by way of the user's packages, and these in the order of their import paths. It gets several such
// lists, and takes a package where it comes first. Source: LoadRootsWithConfig of controller-tools.
func (l *Loader) InBuildOrder(roots []*Package) []*Package {
	var ordered []*Package
	imports := make(map[*Package][]string)
	for _, list := range l.lists {
		for _, p := range inBuildOrder(list, imports) {
			if slices.Contains(roots, p) && !slices.Contains(ordered, p) {
				ordered = append(ordered, p)
			}
		}
	}
	return ordered
}

// inBuildOrder returns the roots of one list in its order. It keeps the imports of each package for the next list.
func inBuildOrder(roots []*Package, imports map[*Package][]string) (ordered []*Package) {
	seen := make(map[*Package]bool)
	var visit func(p *Package)
	visit = func(p *Package) {
		if seen[p] {
			return
		}
		seen[p] = true
		if _, known := imports[p]; !known {
			imports[p] = p.importPaths()
		}
		for _, path := range imports[p] {
			if target, missing := p.modules.lookup(path); !missing && target != nil && target.Local() {
				visit(target)
			}
		}
		if slices.Contains(roots, p) {
			ordered = append(ordered, p)
		}
	}
	for _, root := range roots {
		visit(root)
	}
	return ordered
}

// importPaths are what a package's files import, sorted.
func (p *Package) importPaths() []string {
	paths := make(map[string]bool)
	for _, name := range p.GoFiles() {
		text, err := p.loader.ReadFile(name)
		if err != nil {
			continue // reading the package reports it
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ImportsOnly)
		if err != nil {
			continue // as above
		}
		for _, spec := range file.Imports {
			if path, err := strconv.Unquote(spec.Path.Value); err == nil {
				paths[path] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(paths))
}
