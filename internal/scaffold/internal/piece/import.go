package piece

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
)

// An Import is an import of a Go file that has no insertion point for it.
type Import struct {
	Name   string // "" for the package's own
	Path   string
	Module string // the project's, whose imports form a group of their own
}

// ID distinguishes the piece from others of its file.
func (i Import) ID() string { return "import " + i.Path }

// spec is the import as it stands in a group.
func (i Import) spec() string {
	return strings.TrimSpace(i.Name + " " + strconv.Quote(i.Path))
}

// Insert adds the text where it is missing.
func (i Import) Insert(file string, src []byte) ([]byte, error) {
	parsed, fset, err := gofile.Parse(file, src, parser.ImportsOnly|parser.ParseComments)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(parsed.Imports, i.is) {
		return src, nil
	}
	block := importBlock(parsed)
	if block == nil {
		return nil, &report.Error{
			What: "there is no import ( … ) to add " + i.Path + " to", Where: fmt.Sprintf("%s:%d", file, fset.Position(parsed.Name.End()).Line+1),
			Hint: "nothing was changed; insert this and run the command again:\nimport " + i.spec(),
		}
	}
	lines := strings.SplitAfter(string(src), "\n")
	after, group := i.place(block, fset)
	end := lineEnd(lines[after-1])
	text := "\t" + i.spec() + end
	if group {
		text += end
	}
	return []byte(strings.Join(slices.Insert(lines, after, text), "")), nil
}

// Remove removes the import if nothing in the file uses it any more.
func (i Import) Remove(src []byte) ([]byte, int) {
	parsed, fset, err := gofile.Parse("", src, parser.SkipObjectResolution)
	if err != nil {
		return src, 0
	}
	at := slices.IndexFunc(parsed.Imports, i.is)
	if at < 0 || usesPackage(parsed, cmp.Or(i.Name, path.Base(i.Path))) {
		return src, 0
	}
	lines := strings.SplitAfter(string(src), "\n")
	line := fset.PositionFor(parsed.Imports[at].Pos(), false).Line
	return []byte(strings.Join(slices.Delete(lines, line-1, line), "")), 0
}

func (i Import) is(spec *ast.ImportSpec) bool { return spec.Path.Value == strconv.Quote(i.Path) }

// place is the line that the import belongs below, and whether it begins a group there: beside the import whose path is
// most like its own, among those of its kind. Imports for their effects alone are not; they often have comments.
func (i Import) place(block *ast.GenDecl, fset *token.FileSet) (line int, group bool) {
	at, best := -1, -1
	for n, s := range block.Specs {
		spec := s.(*ast.ImportSpec)
		other, err := strconv.Unquote(spec.Path.Value)
		if err != nil || standard(other) != standard(i.Path) || other == i.Module || strings.HasPrefix(other, i.Module+"/") || isBlank(spec) && i.Name != "_" {
			continue
		}
		if like := commonPrefix(other, i.Path); like >= best {
			at, best = n, like
		}
	}
	if at < 0 {
		return fset.PositionFor(block.Lparen, false).Line, true
	}
	below := fset.PositionFor(block.Specs[at].End(), false).Line
	if sorted := i.placeIn(runAround(block.Specs, at, fset), fset); sorted >= fset.PositionFor(block.Lparen, false).Line {
		below = sorted
	}
	return below, false
}

// placeIn is the line that the import belongs below in lines of imports: sorted, as gofmt has them, since sorting
// later could part a comment from the import that it is about. In lines that are not sorted it is 0.
func (i Import) placeIn(run []ast.Spec, fset *token.FileSet) int {
	if !slices.IsSortedFunc(run, func(a, b ast.Spec) int { return strings.Compare(importPath(a), importPath(b)) }) {
		return 0
	}
	after := slices.IndexFunc(run, func(s ast.Spec) bool { return importPath(s) > i.Path })
	switch after {
	case -1:
		after = len(run)
	case 0:
		return startLine(run[0], fset) - 1
	}
	return fset.PositionFor(run[after-1].End(), false).Line
}

// runAround are the imports around one of them that are on lines of their own, without an empty line between them.
func runAround(specs []ast.Spec, at int, fset *token.FileSet) []ast.Spec {
	adjacent := func(n int) bool {
		return startLine(specs[n], fset)-fset.PositionFor(specs[n-1].End(), false).Line == 1
	}
	from, to := at, at+1
	for from > 0 && adjacent(from) {
		from--
	}
	for to < len(specs) && adjacent(to) {
		to++
	}
	return specs[from:to]
}

// startLine is the first line of an import, with its comment.
func startLine(spec ast.Spec, fset *token.FileSet) int {
	at := spec.Pos()
	if doc := spec.(*ast.ImportSpec).Doc; doc != nil {
		at = doc.Pos()
	}
	return fset.PositionFor(at, false).Line
}

func importPath(spec ast.Spec) string {
	path, _ := strconv.Unquote(spec.(*ast.ImportSpec).Path.Value)
	return path
}

func isBlank(spec *ast.ImportSpec) bool { return spec.Name != nil && spec.Name.Name == "_" }

// standard reports whether a package is of Go's standard library.
func standard(pkg string) bool {
	first, _, _ := strings.Cut(pkg, "/")
	return !strings.Contains(first, ".")
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// importBlock is the first import declaration with parentheses.
func importBlock(file *ast.File) *ast.GenDecl {
	for _, decl := range file.Decls {
		if d, ok := decl.(*ast.GenDecl); ok && d.Tok == token.IMPORT && d.Lparen.IsValid() {
			return d
		}
	}
	return nil
}

// usesPackage reports whether code of the file names a package.
func usesPackage(file *ast.File, name string) bool {
	used := false
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			x, ok := s.X.(*ast.Ident)
			used = used || ok && x.Name == name
		}
		return !used
	})
	return used
}

// An ImportFor is the import of another piece: a file that has that one in a form of its own needs none.
type ImportFor struct {
	Import
	User interface{ in(src []byte) bool } // a [Fragment] or a [Declaration]
}

// Insert adds the text where it is missing.
func (i ImportFor) Insert(file string, src []byte) ([]byte, error) {
	if i.User.in(src) {
		return src, nil
	}
	return i.Import.Insert(file, src)
}

// TakenUnused marks the piece as one that only its last use keeps: a file of others may have their code without the
// import, which they would then seem to need.
func (i ImportFor) TakenUnused() {}

func (f Fragment) in(src []byte) bool { return f.present(strings.SplitAfter(string(src), "\n")) }

func (d Declaration) in(src []byte) bool {
	parsed, err := parser.ParseFile(token.NewFileSet(), "", src, parser.SkipObjectResolution)
	return err == nil && declares(parsed, d.Name)
}

// importSpec returns the path of a fragment that is one import.
func importSpec(code string) (string, bool) {
	fields := strings.Fields(code)
	if strings.Count(code, "\n") != 1 || len(fields) == 0 || len(fields) > 2 {
		return "", false
	}
	path, err := strconv.Unquote(fields[len(fields)-1])
	return path, err == nil
}

// importPosition keeps the project's imports above the marker sorted by path, as
// gofmt does. It reports whether they begin a group there.
func importPosition(lines []string, marker int, path, module string) (at int, begin bool) {
	at = marker
	for at > 0 {
		above, ok := importSpec(strings.TrimSpace(lines[at-1]) + "\n")
		if !ok {
			return at, false
		}
		if above != module && !strings.HasPrefix(above, module+"/") {
			return at, at == marker
		}
		if above <= path {
			return at, false
		}
		for at--; at > 0 && strings.HasPrefix(strings.TrimSpace(lines[at-1]), "//"); {
			at-- // which is about that import
		}
	}
	return at, false
}

// ImportAt is the fragment that imports a package, of the project with this module, under a
// name at the insertion point for imports.
func ImportAt(module, name, pkg string) Fragment {
	code := strconv.Quote(pkg) + "\n"
	if name != path.Base(pkg) {
		code = name + " " + code
	}
	return Fragment{Marker: "imports", Code: code, Key: strconv.Quote(pkg), Module: module}
}

// A UsedImport is the import of a package that other code of the file may use, too: it is taken with the last use.
type UsedImport struct {
	Fragment
	Name string // of the package in the file
}

// UsedImportAt is [ImportAt] for such a package.
func UsedImportAt(module, name, pkg string) UsedImport {
	return UsedImport{ImportAt(module, name, pkg), name}
}

// TakenUnused marks the piece as one that only its last use keeps.
func (u UsedImport) TakenUnused() {}

// Remove removes the import if nothing in the file uses it any more.
func (u UsedImport) Remove(src []byte) ([]byte, int) {
	if parsed, _, err := gofile.Parse("", src, parser.SkipObjectResolution); err != nil || usesPackage(parsed, u.Name) {
		return src, 0
	}
	return u.Fragment.Remove(src)
}
