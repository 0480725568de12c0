package newversion

import (
	"bytes"
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
)

// adder is the variable or function of a package that registers its types.
const adder = ".AddToScheme"

// adders are the names of what registers the types of a package. Code that registers the old version goes on to do so.
var adders = []string{"AddToScheme", "SchemeBuilder", "localSchemeBuilder"}

// registers reports whether a file registers the types of the old version.
func (v *planner) registers(src []byte) bool {
	return slices.ContainsFunc(v.oldNames(src), func(name string) bool { return bytes.Contains(src, []byte(name+adder)) })
}

// oldNames returns the names under which a file imports the old version.
func (v *planner) oldNames(src []byte) (names []string) {
	file, _, err := gofile.Parse("", src, parser.ImportsOnly)
	if err != nil {
		return nil
	}
	for _, spec := range file.Imports {
		switch {
		case spec.Path.Value != strconv.Quote(v.project.ImportPath(v.old)):
		case spec.Name != nil:
			names = append(names, spec.Name.Name)
		default:
			names = append(names, v.packageName(v.project.APIDir(v.old), v.old.Version))
		}
	}
	return names
}

// register has a file that registers the types of the old version register those of the new one: both, or only these if
// the old package goes.
func (v *planner) register(file string, src []byte) ([]byte, error) {
	src, err := v.registerBoth(file, src)
	if err != nil || !v.lastKind || !v.registers(src) {
		return src, err
	}
	parsed, fset, err := gofile.Parse(file, src, parser.ParseComments)
	if err != nil {
		return src, nil
	}
	r := registration{src: src, fset: fset, old: v.oldNames(src), now: v.new.ImportAlias()}
	ast.Inspect(parsed, r.visit)
	pkg := v.project.ImportPath(v.old)
	return gofile.KeepFormat(file, src, withoutUnused(file, without(src, r.found), func(imported string) bool { return imported == pkg })), nil
}

// registerBoth registers the types of the new version wherever a file registers those of the old one.
func (v *planner) registerBoth(file string, src []byte) ([]byte, error) {
	if !v.registers(src) {
		return src, nil
	}
	pkg := v.project.ImportPath(v.new)
	imports := gofile.ImportsOf(src)
	now := cmp.Or(imports[pkg], v.freeName(src, v.oldNames(src)[0]))
	if bytes.Contains(src, []byte(now+adder)) {
		return src, nil
	}
	parsed, fset, err := gofile.Parse(file, src, parser.ParseComments)
	if err != nil {
		return src, nil
	}
	again := registration{src: src, fset: fset, old: v.oldNames(src), now: now}
	ast.Inspect(parsed, again.visit)
	if len(again.additions) == 0 {
		return src, nil // it is left to the user
	}
	slices.SortStableFunc(again.additions, func(a, b addition) int { return a.at - b.at })
	for _, a := range slices.Backward(again.additions) {
		src = slices.Concat(src[:a.at], []byte(a.text), src[a.at:])
	}
	if imports[pkg] == "" {
		src = besideImport(src, v.project.ImportPath(v.old), now+" "+strconv.Quote(pkg))
	}
	return gofile.KeepFormat(file, again.src, src), nil
}

// freeName returns a name for the new version in a file that knows the old one by a name.
func (v *planner) freeName(src []byte, old string) string {
	for _, name := range v.rename(old) {
		if !regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b[^/"]`).Match(src) {
			return name
		}
	}
	return "new" + v.new.ImportAlias()
}

// besideImport adds an import after another one.
func besideImport(src []byte, other, spec string) []byte {
	file, fset, err := gofile.Parse("", src, parser.ImportsOnly)
	if err != nil {
		return src
	}
	for _, decl := range file.Decls {
		d, ok := decl.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, s := range d.Specs {
			if is, ok := s.(*ast.ImportSpec); ok && is.Path.Value == strconv.Quote(other) {
				at, text := fset.Position(is.End()).Offset, "\n\t"+spec
				if !d.Lparen.IsValid() {
					text = "\nimport " + spec
				}
				return slices.Concat(src[:at], []byte(text), src[at:])
			}
		}
	}
	return src
}

// A registration repeats what a file does with the types of a version for those of another one.
type registration struct {
	src       []byte
	fset      *token.FileSet
	old       []string // names of the packages in the file
	now       string
	stack     []ast.Node
	additions []addition
	found     []span      // what is repeated
	left      []token.Pos // what is not repeated
}

// An addition is text at an offset.
type addition struct {
	at   int
	text string
}

func (r *registration) visit(n ast.Node) bool {
	if n == nil {
		r.stack = r.stack[:len(r.stack)-1]
		return true
	}
	if s, ok := n.(*ast.SelectorExpr); ok && r.isAdder(s) && len(r.stack) > 0 {
		r.repeat(s)
	}
	r.stack = append(r.stack, n)
	return true
}

func (r *registration) isAdder(s *ast.SelectorExpr) bool {
	x, ok := s.X.(*ast.Ident)
	return ok && slices.Contains(r.old, x.Name) && "."+s.Sel.Name == adder
}

// repeat repeats the statement that calls the function, or the item of a list that it is.
func (r *registration) repeat(s *ast.SelectorExpr) {
	switch parent := r.stack[len(r.stack)-1].(type) {
	case *ast.CompositeLit:
		r.add(s.End(), ", "+r.now+adder)
		r.find(item(parent.Elts, slices.Index(parent.Elts, ast.Expr(s)), parent.Rbrace))
	case *ast.CallExpr:
		if parent.Fun != s {
			r.add(s.End(), ", "+r.now+adder)
			r.find(item(parent.Args, slices.Index(parent.Args, ast.Expr(s)), parent.Rparen))
			return
		}
		r.repeatStatement(s, parent)
	default:
		r.left = append(r.left, s.Pos())
	}
}

// repeatStatement repeats the innermost statement around a call.
func (r *registration) repeatStatement(s *ast.SelectorExpr, call *ast.CallExpr) {
	for i := len(r.stack) - 1; i > 0; i-- {
		statement, ok := r.stack[i].(ast.Stmt)
		block, in := r.stack[i-1].(*ast.BlockStmt)
		if !ok || !in {
			continue
		}
		switch statement := statement.(type) {
		case *ast.ExprStmt, *ast.IfStmt:
			r.add(statement.End(), "\n"+r.again(statement))
			r.find(statement.Pos(), statement.End())
		case *ast.AssignStmt:
			r.repeatAssignment(statement, block)
		case *ast.ReturnStmt:
			if len(statement.Results) != 1 || statement.Results[0] != call {
				r.left = append(r.left, s.Pos())
				return
			}
			r.add(statement.Pos(), "if err := "+r.again(call)+"; err != nil {\nreturn err\n}\n")
		default:
			r.left = append(r.left, s.Pos())
		}
		return
	}
	r.left = append(r.left, s.Pos())
}

// repeatAssignment repeats an assignment, and the statement after it if that looks at what was assigned.
func (r *registration) repeatAssignment(statement *ast.AssignStmt, block *ast.BlockStmt) {
	text, end := strings.Replace(r.again(statement), ":=", "=", 1), statement.End()
	names := map[string]bool{}
	for _, left := range statement.Lhs {
		if id, ok := left.(*ast.Ident); ok && id.Name != "_" {
			names[id.Name] = true
		}
	}
	if next := slices.Index(block.List, ast.Stmt(statement)) + 1; next < len(block.List) && looksAt(block.List[next], names) {
		text += "\n" + r.again(block.List[next])
		end = block.List[next].End()
	}
	r.add(end, "\n"+text)
	r.find(statement.Pos(), end)
}

// looksAt reports whether a statement that can be repeated uses a name.
func looksAt(statement ast.Stmt, names map[string]bool) (found bool) {
	switch statement.(type) {
	case *ast.ExprStmt, *ast.IfStmt:
	default:
		return false
	}
	ast.Inspect(statement, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && names[id.Name]
		return !found
	})
	return found
}

// again returns the text of a node for the other package.
func (r *registration) again(n ast.Node) string {
	text := string(r.src[r.offset(n.Pos()):r.offset(n.End())])
	for _, old := range r.old {
		text = strings.ReplaceAll(text, old+adder, r.now+adder)
	}
	return text
}

func (r *registration) add(at token.Pos, text string) {
	r.additions = append(r.additions, addition{r.offset(at), text})
}

// find notes the text of a registration.
func (r *registration) find(from, to token.Pos) {
	r.found = append(r.found, span{r.offset(from), r.offset(to)}.line(r.src))
}

func (r *registration) offset(at token.Pos) int { return r.fset.Position(at).Offset }

// registeringOne takes all kinds but one out of the lists of a file that registers types.
func (v *planner) registeringOne(file string, src []byte) ([]byte, error) {
	return v.unlisting(file, src, func(kind string) bool { return kind != v.old.Kind })
}

// unlisting takes some kinds of the old package out of the lists of a file that registers types.
func (v *planner) unlisting(file string, src []byte, which func(kind string) bool) ([]byte, error) {
	parsed, fset, err := gofile.Parse(file, src, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	gone := map[string]bool{}
	for _, k := range v.Code().Package(v.project.APIDir(v.old)).Kinds {
		gone[k.Name], gone[k.Name+"List"] = which(k.Name), which(k.Name)
	}
	var cuts []span
	cut := func(list []ast.Expr, end token.Pos) {
		for i := range list {
			if gone[madeBy(list[i])] {
				from, to := item(list, i, end)
				cuts = append(cuts, span{fset.Position(from).Offset, fset.Position(to).Offset})
			}
		}
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			cut(n.Args, n.Rparen)
		case *ast.CompositeLit:
			cut(n.Elts, n.Rbrace)
		}
		return true
	})
	return gofile.KeepFormat(file, src, without(src, cuts)), nil
}

// item returns where an item of a list stands, up to the next one. End is that of the list.
func item(list []ast.Expr, i int, end token.Pos) (from, to token.Pos) {
	switch {
	case i+1 < len(list):
		return list[i].Pos(), list[i+1].Pos()
	case i > 0:
		return list[i-1].End(), list[i].End()
	}
	return list[i].Pos(), end
}

// A span is a part of a text, by offsets.
type span struct{ from, to int }

// line returns the span with the rest of its lines, if these have nothing else.
func (s span) line(src []byte) span {
	from, to := bytes.LastIndexByte(src[:s.from], '\n')+1, bytes.IndexByte(src[s.to:], '\n')+s.to+1
	if to == s.to || len(bytes.TrimSpace(src[from:s.from])) > 0 || len(bytes.TrimSpace(src[s.to:to])) > 0 {
		return s
	}
	return span{from, to}
}

// without returns a text without some spans of it, which may overlap.
func without(src []byte, spans []span) (out []byte) {
	slices.SortFunc(spans, func(a, b span) int { return a.from - b.from })
	at := 0
	for _, s := range spans {
		out = append(out, src[at:max(at, s.from)]...)
		at = max(at, s.to)
	}
	return append(out, src[at:]...)
}

// madeBy returns the name of the type of an expression such as &CronJob{}; "" for others.
func madeBy(e ast.Expr) string {
	if u, ok := e.(*ast.UnaryExpr); ok {
		e = u.X
	}
	if c, ok := e.(*ast.CompositeLit); ok {
		if id, ok := c.Type.(*ast.Ident); ok {
			return id.Name
		}
	}
	return ""
}

// leaveRegistrations lists the places of a file that register the old version in a way that is not repeated.
func (v *planner) leaveRegistrations(file string, src []byte) {
	parsed, fset, err := gofile.Parse(file, src, parser.ParseComments)
	if err != nil || v.deletion != nil { // the code does not compile then
		return
	}
	r := registration{src: src, fset: fset, old: v.oldNames(src), now: v.new.ImportAlias()}
	ast.Inspect(parsed, r.visit)
	for _, at := range r.left {
		v.Leave(report.Position{File: file, Line: fset.Position(at).Line}.String() + ": this registers the types of " + v.old.Version + " only; register those of " + v.new.Version + ", too")
	}
}
