// Package references finds out which Go files of a project use what another file declares,
// by syntax alone, so that a file is not deleted under those who need it.
//
//	sources, err := references.Read(plan.Code())
//	place, used := sources.Of("api/v1/cronjob_types.go", leaving)
//
// Syntax sees every use by name: of a package's exported names in files that import it,
// and of all its names in its own folder. Methods are seen where a file declares them for a type of another
// one, as those that convert a kind's versions; others are found with their type.
package references

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/codebase"
)

// Sources are the Go files of a project, by their path relative to it, with slashes.
type Sources struct {
	files   map[string]*source
	modules map[string]string // folders with a go.mod, and the path of the module
}

// A source is what is needed to know of a file.
type source struct {
	data       []byte
	dir, pkg   string
	declares   map[string]bool
	unresolved map[string]int            // names that the file does not declare, and a line that has them
	imports    map[string]string         // names to import paths
	dots       []string                  // paths imported as .
	selected   map[string]map[string]int // of an imported name: what is selected, and a line that does
	methods    methods
	members    members
}

// Read reads the Go files of a project, those of other modules in it too. Generated ones, which follow from the others,
// are left out; so is what does not parse.
func Read(code *codebase.Codebase) (*Sources, error) {
	s := &Sources{files: map[string]*source{}}
	names, modules, err := code.Sources()
	s.modules = modules
	for _, name := range names {
		if strings.HasPrefix(path.Base(name), "zz_generated.") {
			continue
		}
		data, err := code.View().ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) { // a broken link
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read the Go files: %w", err)
		}
		s.Set(name, data)
	}
	return s, err
}

// Set makes data the content of a file.
func (s *Sources) Set(name string, data []byte) {
	file, err := parser.ParseFile(token.NewFileSet(), name, data, 0)
	if err != nil {
		delete(s.files, name)
		return
	}
	s.files[name] = newSource(name, data, file)
}

func newSource(name string, data []byte, file *ast.File) *source {
	src := &source{
		data: data, dir: path.Dir(name), pkg: file.Name.Name,
		declares: map[string]bool{}, unresolved: map[string]int{}, imports: map[string]string{}, selected: map[string]map[string]int{},
	}
	line := func(pos token.Pos) int { return 1 + strings.Count(string(data[:int(pos-file.FileStart)]), "\n") }
	for name := range file.Scope.Objects {
		src.declares[name] = true
	}
	for _, ident := range file.Unresolved {
		if _, known := src.unresolved[ident.Name]; !known {
			src.unresolved[ident.Name] = line(ident.Pos())
		}
	}
	for _, spec := range file.Imports {
		src.addImport(spec)
	}
	src.methods, src.members = methodsIn(file), membersIn(file, line)
	ast.Inspect(file, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := sel.X.(*ast.Ident); ok && x.Obj == nil {
				if src.selected[x.Name] == nil {
					src.selected[x.Name] = map[string]int{}
				}
				src.selected[x.Name][sel.Sel.Name] = line(sel.Pos())
			}
		}
		return true
	})
	return src
}

func (src *source) addImport(spec *ast.ImportSpec) {
	importPath, err := strconv.Unquote(spec.Path.Value)
	switch {
	case err != nil:
	case spec.Name == nil:
		src.imports[importPath] = "" // the package's own name
	case spec.Name.Name == ".":
		src.dots = append(src.dots, importPath)
	default:
		src.imports[importPath] = spec.Name.Name
	}
}

// Of returns where a name that the file declares is used, leaving out files that leaving
// holds: those are no reason to keep it.
func (s *Sources) Of(name string, leaving map[string]bool) (place string, used bool) {
	all := s.Places(name, leaving)
	if len(all) == 0 {
		return "", false
	}
	return slices.Min(all), true
}

// Places are all uses, one for each file. Programs come first: they start what the others are parts of.
func (s *Sources) Places(name string, leaving map[string]bool) []string {
	declaring := s.files[name]
	if declaring == nil {
		return nil
	}
	importPath := s.importPath(declaring.dir)
	var programs, packages []string
	for _, other := range slices.Sorted(maps.Keys(s.files)) {
		src := s.files[other]
		line := src.usesOf(declaring, importPath)
		switch place := fmt.Sprintf("%s:%d", other, line); {
		case other == name || leaving[other] || line == 0:
		case src.pkg == "main":
			programs = append(programs, place)
		default:
			packages = append(packages, place)
		}
	}
	return append(programs, packages...)
}

// Imports reports whether a file imports a package of the module, leaving out files that
// leaving holds.
func (s *Sources) Imports(module string, leaving map[string]bool) bool {
	for name, src := range s.files {
		if leaving[name] {
			continue
		}
		for importPath := range src.imports {
			if importPath == module || strings.HasPrefix(importPath, module+"/") {
				return true
			}
		}
	}
	return false
}

// Mention reports whether a file has the text, in code or in a comment, leaving out files
// that leaving holds.
func (s *Sources) Mention(text string, leaving map[string]bool) bool {
	for name, src := range s.files {
		if !leaving[name] && bytes.Contains(src.data, []byte(text)) {
			return true
		}
	}
	return false
}

// usesOf returns a line of src that uses what declaring declares, methods among it, or 0.
func (src *source) usesOf(declaring *source, importPath string) int {
	return cmp.Or(src.uses(declaring, importPath), src.usesMethods(declaring, importPath))
}

// uses returns a line of src that uses what declaring declares by its name, or 0.
func (src *source) uses(declaring *source, importPath string) int {
	if src.dir == declaring.dir && src.pkg == declaring.pkg {
		return first(declaring.declares, src.unresolved)
	}
	if name, ok := src.imports[importPath]; ok {
		if name == "" {
			name = declaring.pkg
		}
		return first(declaring.declares, src.selected[name])
	}
	for _, dot := range src.dots {
		if dot == importPath {
			return first(declaring.declares, src.unresolved)
		}
	}
	return 0
}

// first returns the lowest line at which one of the names is.
func first(names map[string]bool, lines map[string]int) int {
	lowest := 0
	for name := range names {
		if line := lines[name]; line > 0 && name != "_" && name != "init" && (lowest == 0 || line < lowest) {
			lowest = line
		}
	}
	return lowest
}

// importPath is the path of the package in a folder, by the go.mod at or above it.
func (s *Sources) importPath(dir string) string {
	for above := dir; ; above = path.Dir(above) {
		if module, ok := s.modules[above]; ok {
			return path.Join(module, strings.TrimPrefix(strings.TrimPrefix(dir, above), "/"))
		}
		if above == "." || above == "/" {
			return dir
		}
	}
}

// Dangling returns a line of Go code that uses an import which the code had and has no
// more, or 0: before and after are the code without and with a change.
func Dangling(before, after []byte) int {
	old, err := parser.ParseFile(token.NewFileSet(), "", before, parser.ImportsOnly)
	if err != nil {
		return 0
	}
	file, err := parser.ParseFile(token.NewFileSet(), "", after, 0)
	if err != nil {
		return 0
	}
	src := newSource("", after, file)
	for _, spec := range old.Imports {
		importPath, err := strconv.Unquote(spec.Path.Value)
		if _, still := src.imports[importPath]; err != nil || still {
			continue
		}
		name := path.Base(importPath)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		if line := src.unresolved[name]; line > 0 {
			return line
		}
	}
	return 0
}
