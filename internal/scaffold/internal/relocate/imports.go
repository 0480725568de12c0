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
	kept := false // the name stands for a part before
	for _, part := range used {
		if spec, there := r.importedAs(part); spec != nil && name != "_" && part.Import != p.Import {
			if there != part.Alias || !part.keeps(name) {
				r.rename(p, name, there, part)
				continue
			}
			r.dropLine(spec)
			r.selectors(there, func(s *ast.SelectorExpr) { r.replace(s.X.Pos(), s.X.End(), name) })
		}
		local := r.local(name, part, kept)
		if kept = kept || local == name; local != name {
			r.rename(p, name, local, part)
		}
		quoted := strconv.Quote(part.Import)
		needless := local == part.Name && part.named() && (spec.Name == nil || local != p.Name || path.Base(p.Import) != p.Name)
		if !needless {
			quoted = local + " " + quoted
		}
		lines = append(lines, quoted)
	}
	if len(lines) == 0 {
		r.dropLine(spec)
		return nil
	}
	separator := "\n\t"
	if !r.grouped(spec) {
		separator = "\nimport "
	}
	r.replace(spec.Pos(), spec.Path.End(), strings.Join(lines, separator))
	return nil
}

// keeps reports whether files that call the package name go on to do so for the part.
func (part *Part) keeps(name string) bool { return part.Called != nil && part.Called(name)[0] == name }

// importedAs returns the import by which the file has a part already, and the name; nil if there is none.
func (r *rewriting) importedAs(part *Part) (*ast.ImportSpec, string) {
	for _, spec := range r.file.Imports {
		switch {
		case spec.Path.Value != strconv.Quote(part.Import):
		case spec.Name == nil:
			return spec, part.Name
		case spec.Name.Name != "_" && spec.Name.Name != ".":
			return spec, spec.Name.Name
		}
	}
	return nil, ""
}

// dropLine takes out the line of an import.
func (r *rewriting) dropLine(spec *ast.ImportSpec) {
	from, to := r.tokens.Offset(spec.Pos()), r.tokens.Offset(spec.End())
	if !r.grouped(spec) {
		from -= len("import ")
	}
	for from > 0 && r.src[from-1] != '\n' {
		from--
	}
	for to < len(r.src) && r.src[to] != '\n' {
		to++
	}
	r.edits = append(r.edits, edit{from, min(to+1, len(r.src)), ""})
}

// local returns the name of a part in a file that calls the package name, which is taken if it stands for another part.
func (r *rewriting) local(name string, part *Part, taken bool) string {
	if name == "_" || name == "." {
		return name
	}
	if part.Called != nil {
		for _, candidate := range part.Called(name) {
			if candidate == name && !taken || !r.means(candidate) {
				return candidate
			}
		}
	}
	if taken {
		return part.Alias
	}
	return name
}

// means reports whether a name stands for something in the file.
func (r *rewriting) means(name string) (found bool) {
	ast.Inspect(r.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			ast.Inspect(n.X, func(n ast.Node) bool {
				id, is := n.(*ast.Ident)
				found = found || is && id.Name == name
				return !found
			})
			return false
		case *ast.Ident:
			found = found || n.Name == name
		}
		return !found
	})
	return found || slices.ContainsFunc(r.file.Imports, func(spec *ast.ImportSpec) bool {
		imported, _ := strconv.Unquote(spec.Path.Value)
		return spec.Name == nil && path.Base(imported) == name
	})
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
		if part := p.declaring(s.Sel.Name); part != nil && !slices.Contains(used, part) {
			used = append(used, part)
		}
	})
	if len(used) == 0 {
		return p.Parts[:1]
	}
	slices.SortFunc(used, func(a, b *Part) int { return slices.Index(p.Parts, a) - slices.Index(p.Parts, b) })
	return used
}

// declaring returns the first part that declares a name; nil if none does.
func (p *Package) declaring(name string) *Part {
	if i := slices.IndexFunc(p.Parts, func(part *Part) bool { return part.declares[name] }); i >= 0 {
		return p.Parts[i]
	}
	return nil
}

// rename changes the qualifier of the names of a package that come from a part.
func (r *rewriting) rename(p *Package, from, to string, part *Part) {
	r.selectors(from, func(s *ast.SelectorExpr) {
		if p.declaring(s.Sel.Name) == part {
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
