// Package references finds the Go files that use the declarations of another file, so that no file is deleted while
// others need it. It reads syntax alone.
//
//	sources, err := references.Read(plan.Code())
//	place, used := sources.Of("api/v1/cronjob_types.go", leaving)
//
// Syntax shows every use by name: of a package's exported names in files that import it, and of all names in the
// package's own folder. Methods count if a file declares them on a type of another file, such as a conversion. Other
// methods are used where their type is.
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

// Sources are the Go files of a project, by path with slashes.
type Sources struct {
	files   map[string]*source
	modules map[string]string // module paths by the folders of go.mod files
}

// A source is what is known about a file.
type source struct {
	data       []byte
	dir, pkg   string
	declares   map[string]bool
	unresolved map[string]int            // names that the file does not declare, each with a line
	imports    map[string]string         // import paths to names; "" is the package's own name
	dots       []string                  // paths of dot imports
	selected   map[string]map[string]int // by imported name: what is selected from it, each with a line
	methods    methods
	members    members
}

// Read reads the Go files of a project, including its nested modules. It skips generated files, which follow from
// others, and files that do not parse.
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

// Set replaces the content of a file.
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

// Of returns a place that uses a declaration of the file. Files in leaving do not count.
func (s *Sources) Of(name string, leaving map[string]bool) (place string, used bool) {
	all := s.Places(name, leaving)
	if len(all) == 0 {
		return "", false
	}
	return slices.Min(all), true
}

// Places returns one place for each file that uses a declaration. Programs come first, since they use the packages.
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

// Imports reports whether a file imports a package of the module. Files in leaving do not count.
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

// Mention reports whether a file contains the text, in code or in a comment. Files in leaving do not count.
func (s *Sources) Mention(text string, leaving map[string]bool) bool {
	for name, src := range s.files {
		if !leaving[name] && bytes.Contains(src.data, []byte(text)) {
			return true
		}
	}
	return false
}

// usesOf returns a line of src that uses a declaration of declaring, or 0.
func (src *source) usesOf(declaring *source, importPath string) int {
	return cmp.Or(src.uses(declaring, importPath), src.usesMethods(declaring, importPath))
}

// uses is usesOf without methods.
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

// first returns the lowest line of any of the names, or 0.
func first(names map[string]bool, lines map[string]int) int {
	lowest := 0
	for name := range names {
		if line := lines[name]; line > 0 && name != "_" && name != "init" && (lowest == 0 || line < lowest) {
			lowest = line
		}
	}
	return lowest
}

// importPath returns the import path of a folder, by the go.mod in it or above it.
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

// Dangling returns a line of after that uses an import which before has and after lacks, or 0.
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
