package relocate

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"
)

// A Mistake is a place that prevents a move. Position is file:line:column.
type Mistake struct{ Position, Problem, Hint string }

// Check reads the packages' files through source and returns what the move would break: files that do not parse, and
// uses of names that move to another part.
func (s *Set) Check(source func(file string) ([]byte, error)) ([]Mistake, error) {
	var mistakes []Mistake
	for _, p := range s.Packages {
		files, err := p.parse(source)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			if f.err != nil {
				mistakes = append(mistakes, syntaxMistake(f.path, f.err))
			}
		}
		mistakes = append(mistakes, p.checkParts(files)...)
	}
	return mistakes, nil
}

// A source is a parsed file of a package.
type source struct {
	path string
	name string // relative to the package
	file *ast.File
	fset *token.FileSet
	err  error
}

// parse parses the package's files, without those in subfolders.
func (p *Package) parse(read func(string) ([]byte, error)) ([]source, error) {
	var files []source
	for _, name := range p.files() {
		if path.Dir(name) != "." || path.Ext(name) != ".go" {
			continue
		}
		full := path.Join(p.Dir, name)
		src, err := read(full)
		if err != nil {
			return nil, err
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, full, src, parser.ParseComments)
		files = append(files, source{full, name, file, fset, err})
	}
	return files, nil
}

// files returns the names of all files that move, each once.
func (p *Package) files() []string {
	var names []string
	for _, part := range p.Parts {
		names = append(append(names, part.Files...), part.Copies...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// checkParts sets the declarations of each part, and returns the uses of names of other parts.
func (p *Package) checkParts(files []source) []Mistake {
	declared := map[string]string{} // name to file
	for _, part := range p.Parts {
		part.declares = map[string]bool{}
	}
	for _, f := range files {
		if f.err != nil {
			continue
		}
		for _, name := range Declarations(f.file) {
			declared[name] = f.name
			for _, part := range p.Parts {
				part.declares[name] = part.declares[name] || part.has(f.name) && !slices.Contains(part.Without, name)
			}
		}
	}
	if len(p.Parts) == 1 {
		return nil
	}
	var mistakes []Mistake
	for _, f := range files {
		for _, part := range p.Parts {
			if f.err == nil && part.has(f.name) {
				mistakes = append(mistakes, p.missing(f, part, declared)...)
			}
		}
	}
	return mistakes
}

// missing returns the uses of names that files of other parts declare.
func (p *Package) missing(f source, part *Part, declared map[string]string) []Mistake {
	var mistakes []Mistake
	for _, ident := range f.file.Unresolved {
		from, ok := declared[ident.Name]
		if !ok || part.declares[ident.Name] || slices.Contains(part.Without, ident.Name) {
			continue
		}
		mistakes = append(mistakes, Mistake{
			Position: f.fset.Position(ident.Pos()).String(),
			Problem:  fmt.Sprintf("%s is declared in %s, which moves to another package", ident.Name, path.Join(p.Dir, from)),
			Hint:     fmt.Sprintf("this file moves to %s; move %s to a separate package that both import", part.Dir, ident.Name),
		})
	}
	return mistakes
}

// Declarations returns the names that a file adds to its package's scope.
func Declarations(file *ast.File) []string {
	var names []string
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && d.Name.Name != "init" && d.Name.Name != "_" {
				names = append(names, d.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					names = append(names, s.Name.Name)
				case *ast.ValueSpec:
					for _, ident := range s.Names {
						if ident.Name != "_" {
							names = append(names, ident.Name)
						}
					}
				}
			}
		}
	}
	return names
}

// syntaxMistake splits the parser's error into position and text.
func syntaxMistake(file string, err error) Mistake {
	position, problem, ok := strings.Cut(err.Error(), ": ")
	if !ok || !strings.HasPrefix(position, file) {
		position, problem = file, err.Error()
	}
	return Mistake{Position: position, Problem: "the file is not Go that can be parsed: " + problem, Hint: "correct it, so that slipway can change its imports and paths"}
}
