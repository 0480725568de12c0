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

// An Import is an import of a Go file, for files without an insertion point for imports.
type Import struct {
	Name   string // "" for the package's own name
	Path   string
	Module string // the project's module, whose imports form a group of their own
}

// ID implements plan.Piece.
func (i Import) ID() string { return "import " + i.Path }

// spec returns the import as one line of a group.
func (i Import) spec() string {
	return strings.TrimSpace(i.Name + " " + strconv.Quote(i.Path))
}

// Insert implements plan.Piece.
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
			Class: report.BadProject,
			What:  "there is no import ( … ) to add " + i.Path + " to", Where: fmt.Sprintf("%s:%d", file, fset.Position(parsed.Name.End()).Line+1),
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

// Remove removes the import if no code in the file uses it.
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

// place returns the line below which the import belongs, and whether it begins a group there. It belongs beside the
// import of the same kind whose path has the longest common prefix. Blank imports are skipped: they often have
// comments.
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

// placeIn returns the line below which the import belongs in a run of sorted imports, or 0 if they are not sorted.
// Sorting later could separate a comment from its import.
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

// runAround returns the adjacent imports around one, up to the next empty line.
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

// startLine returns the first line of an import, or of the comment above it.
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

func importBlock(file *ast.File) *ast.GenDecl {
	for _, decl := range file.Decls {
		if d, ok := decl.(*ast.GenDecl); ok && d.Tok == token.IMPORT && d.Lparen.IsValid() {
			return d
		}
	}
	return nil
}

// usesPackage reports whether the file's code refers to a package by this name.
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

// An ImportFor is an import that another piece uses. A file that already has that piece in another form needs no
// import.
type ImportFor struct {
	Import
	User interface{ in(src []byte) bool } // a [Fragment] or a [Declaration]
}

// Insert implements plan.Piece.
func (i ImportFor) Insert(file string, src []byte) ([]byte, error) {
	if i.User.in(src) {
		return src, nil
	}
	return i.Import.Insert(file, src)
}

// TakenUnused marks a piece that undoing removes once no code uses it, even if other parts list it: an author's file
// may have the code of these parts without the import.
func (i ImportFor) TakenUnused() {}

func (f Fragment) in(src []byte) bool { return f.present(strings.SplitAfter(string(src), "\n")) }

func (d Declaration) in(src []byte) bool {
	parsed, err := parser.ParseFile(token.NewFileSet(), "", src, parser.SkipObjectResolution)
	return err == nil && declares(parsed, d.Name)
}

// importSpec returns the path if the code is a single import.
func importSpec(code string) (string, bool) {
	fields := strings.Fields(code)
	if strings.Count(code, "\n") != 1 || len(fields) == 0 || len(fields) > 2 {
		return "", false
	}
	path, err := strconv.Unquote(fields[len(fields)-1])
	return path, err == nil
}

// importPosition returns the line for an import above the marker: the project's imports are sorted by path, as gofmt
// sorts them. Begin reports whether the import begins their group.
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
			at-- // the comment belongs to that import
		}
	}
	return at, false
}

// ImportAt is the fragment that imports pkg under a name at the insertion point for imports. Module is the project's.
func ImportAt(module, name, pkg string) Fragment {
	code := strconv.Quote(pkg) + "\n"
	if name != path.Base(pkg) {
		code = name + " " + code
	}
	return Fragment{Marker: "imports", Code: code, Key: strconv.Quote(pkg), Module: module}
}

// A UsedImport is an import that other code of the file may use too. It is removed with the last use.
type UsedImport struct {
	Fragment
	Name string // of the package in the file
}

// UsedImportAt is [ImportAt] for a UsedImport.
func UsedImportAt(module, name, pkg string) UsedImport {
	return UsedImport{ImportAt(module, name, pkg), name}
}

// TakenUnused marks a piece that undoing removes once no code uses it.
func (u UsedImport) TakenUnused() {}

// Remove removes the import if no code in the file uses it.
func (u UsedImport) Remove(src []byte) ([]byte, int) {
	if parsed, _, err := gofile.Parse("", src, parser.SkipObjectResolution); err != nil || usesPackage(parsed, u.Name) {
		return src, 0
	}
	return u.Fragment.Remove(src)
}
