package relocate

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/lazy"
)

// imports adapts the import paths to the move. The names in the file stay, except those of a package that is divided.
func (r *rewriting) imports() error {
	for _, spec := range r.file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		for _, p := range r.set.Packages {
			switch rest, below := strings.CutPrefix(imported, p.Import+"/"); {
			case imported == p.Import:
				if err := r.reimport(spec, p); err != nil {
					return err
				}
			case below && p.movesFolder(rest):
				part := r.set.partWith(p, rest)
				r.replace(spec.Path.Pos(), spec.Path.End(), strconv.Quote(part.Import+"/"+part.place(rest)))
			}
		}
	}
	return nil
}

// movesFolder reports whether the subfolder dir moves with the package.
func (p *Package) movesFolder(dir string) bool {
	return slices.ContainsFunc(p.Parts, func(part *Part) bool { return part.hasBelow(dir) })
}

func (s *Set) partWith(p *Package, dir string) *Part {
	return p.Parts[slices.IndexFunc(p.Parts, func(part *Part) bool { return part.hasBelow(dir) })]
}

// reimport replaces an import by the imports of those parts that the file uses.
func (r *rewriting) reimport(spec *ast.ImportSpec, p *Package) error {
	name := p.Name
	if spec.Name != nil {
		name = spec.Name.Name
	}
	if len(p.Parts) > 1 && name == "." {
		return ErrDotImport
	}
	used := r.partsUsed(p, name)
	var lines []string
	for i, part := range used {
		local := name
		if i > 0 && name != "_" {
			local = part.Alias
			r.rename(name, local, part)
		}
		quoted := strconv.Quote(part.Import)
		needless := local == part.Name && part.named() && (spec.Name == nil || local != p.Name || path.Base(p.Import) != p.Name)
		if !needless {
			quoted = local + " " + quoted
		}
		lines = append(lines, quoted)
	}
	separator := "\n\t"
	if !r.grouped(spec) {
		separator = "\nimport "
	}
	r.replace(spec.Pos(), spec.Path.End(), strings.Join(lines, separator))
	return nil
}

// named reports whether the last element of the import path is the package's name, as readers and tools assume.
func (part *Part) named() bool { return path.Base(part.Import) == part.Name }

// partsUsed returns the parts that a file uses under name; the first part if it uses none.
func (r *rewriting) partsUsed(p *Package, name string) []*Part {
	if name == "_" {
		return p.Parts
	}
	var used []*Part
	r.selectors(name, func(s *ast.SelectorExpr) {
		for _, part := range p.Parts {
			if part.declares[s.Sel.Name] && !slices.Contains(used, part) {
				used = append(used, part)
				break
			}
		}
	})
	if len(used) == 0 {
		return p.Parts[:1]
	}
	slices.SortFunc(used, func(a, b *Part) int { return slices.Index(p.Parts, a) - slices.Index(p.Parts, b) })
	return used
}

// rename changes the qualifier of the names that a part declares.
func (r *rewriting) rename(from, to string, part *Part) {
	r.selectors(from, func(s *ast.SelectorExpr) {
		if part.declares[s.Sel.Name] {
			r.replace(s.X.Pos(), s.X.End(), to)
		}
	})
}

// selectors visits every name.Something in which name is an import.
func (r *rewriting) selectors(name string, visit func(*ast.SelectorExpr)) {
	ast.Inspect(r.file, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := s.X.(*ast.Ident); ok && x.Name == name && x.Obj == nil {
			visit(s)
		}
		return true
	})
}

// ImportsSorted reports whether imports are in gofmt's order: by path within each group of lines. A file that was
// formatted before needs no further formatting then.
func ImportsSorted(src []byte) bool {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", src, parser.ImportsOnly|parser.ParseComments)
	if err != nil {
		return false
	}
	for i, spec := range file.Imports {
		if spec.Comment != nil {
			return false // gofmt aligns such comments
		}
		if i == 0 {
			continue
		}
		above := file.Imports[i-1]
		adjacent := fset.Position(above.End()).Line+1 == fset.Position(spec.Pos()).Line
		if adjacent && above.Path.Value > spec.Path.Value {
			return false
		}
	}
	return true
}

func (r *rewriting) grouped(spec *ast.ImportSpec) bool {
	for _, decl := range r.file.Decls {
		if d, ok := decl.(*ast.GenDecl); ok && slices.Contains(d.Specs, ast.Spec(spec)) {
			return d.Lparen.IsValid()
		}
	}
	return false
}

// comments adapts import paths in markers and directives, which tools read, and relative paths in go:generate
// directives.
func (r *rewriting) comments() {
	for _, group := range r.file.Comments {
		for _, c := range group.List {
			if text := r.comment(c.Text); text != c.Text {
				r.replace(c.Pos(), c.End(), text)
			}
		}
	}
}

var goGenerate = lazy.Regexp(`^//go:generate\s`)

func (r *rewriting) comment(text string) string {
	directive := goGenerate().MatchString(text)
	if !directive && !strings.HasPrefix(strings.TrimLeft(text, "/ \t"), "+") {
		return text
	}
	for _, p := range r.set.Packages {
		text = p.importPattern().ReplaceAllString(text, "${1}"+p.Parts[0].Import+"${2}")
	}
	if directive && r.target.part != nil {
		text = parentPath().ReplaceAllStringFunc(text, func(found string) string {
			at := strings.Index(found, "..")
			return found[:at] + r.relative(found[at:], true)
		})
	}
	return text
}

// importPattern matches the package's import path, or one below it, as a word.
func (p *Package) importPattern() *regexp.Regexp {
	return regexp.MustCompile(fmt.Sprintf(`(^|[^\w./-])%s($|[^\w.-])`, regexp.QuoteMeta(p.Import)))
}
