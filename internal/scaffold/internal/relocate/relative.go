package relocate

import (
	"go/ast"
	"go/token"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/lazy"
)

// climbing finds a relative path that leaves its folder, in a command line.
var climbing = lazy.Regexp(`(?:^|[\s=,:"'])\.\.(?:/[^\s"',:=]*)?`)

// relativePaths has paths that lead out of the file's folder lead to the same place from
// the new one: texts that begin with "../", and those that filepath.Join is given piece by
// piece.
func (r *rewriting) relativePaths() {
	joined := map[*ast.BasicLit]bool{}
	ast.Inspect(r.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if isJoin(n) {
				r.join(n, joined)
			}
		case *ast.ImportSpec:
			return false
		case *ast.BasicLit:
			if text, ok := climbs(n); ok && !joined[n] {
				r.literal(n, text)
			}
		}
		return true
	})
}

// isJoin reports whether a call puts a path together.
func isJoin(call *ast.CallExpr) bool {
	s, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || s.Sel.Name != "Join" || len(call.Args) == 0 {
		return false
	}
	x, ok := s.X.(*ast.Ident)
	return ok && (x.Name == "filepath" || x.Name == "path")
}

// climbs returns the text of a literal that begins with "..".
func climbs(lit *ast.BasicLit) (string, bool) {
	if lit.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(lit.Value)
	return text, err == nil && (text == ".." || strings.HasPrefix(text, "../"))
}

// join rewrites the first literals that filepath.Join is given one after the other. Those that follow something else,
// such as the folder of the file itself, are a path of the project only if they lead to what is there.
func (r *rewriting) join(call *ast.CallExpr, seen map[*ast.BasicLit]bool) {
	for _, arg := range call.Args {
		if lit, ok := arg.(*ast.BasicLit); ok {
			seen[lit] = true
		}
	}
	first, elements := literals(call.Args)
	if len(elements) == 0 || !strings.HasPrefix(elements[0], "..") {
		return
	}
	args := call.Args[first : first+len(elements)]
	old := path.Join(elements...)
	if first > 0 && !r.set.Exists(path.Join(path.Dir(r.path), old)) {
		return
	}
	now := r.relative(old, true)
	if now == old {
		return
	}
	if up, same := strings.CutSuffix(now, old); same { // deeper: the pieces stay
		ups := strings.Split(strings.TrimSuffix(up, "/"), "/")
		r.replace(args[0].Pos(), args[0].Pos(), quoted(ups)+", ")
		return
	}
	r.replace(args[0].Pos(), args[len(args)-1].End(), quoted(strings.Split(now, "/")))
}

// literals are the texts of the first arguments in a row that are literals, and the index of the first of them.
func literals(args []ast.Expr) (first int, texts []string) {
	for i, arg := range args {
		text, err := "", error(nil)
		lit, ok := arg.(*ast.BasicLit)
		if ok && lit.Kind == token.STRING {
			text, err = strconv.Unquote(lit.Value)
		}
		switch {
		case ok && lit.Kind == token.STRING && err == nil:
			texts = append(texts, text)
		case len(texts) > 0:
			return i - len(texts), texts
		}
	}
	return len(args) - len(texts), texts
}

// quoted writes texts as arguments of a call.
func quoted(texts []string) string {
	quoted := make([]string, len(texts))
	for i, text := range texts {
		quoted[i] = strconv.Quote(text)
	}
	return strings.Join(quoted, ", ")
}

// literal rewrites a text that is a path of something in the project, which other texts
// that begin with "../" are not.
func (r *rewriting) literal(lit *ast.BasicLit, text string) {
	now := r.relative(text, false)
	if now == text {
		return
	}
	value := strconv.Quote(now)
	if lit.Value[0] == '`' {
		value = "`" + now + "`"
	}
	r.replace(lit.Pos(), lit.End(), value)
}

// relative returns the path that leads from the file's new folder to where old led from
// its present one, or old when that is nothing of the project's. What is known to be a path
// may lead to what is not there yet, such as CRDs that are not generated.
func (r *rewriting) relative(old string, isPath bool) string {
	from := path.Dir(r.path)
	to := path.Join(from, old)
	if !r.set.leadsSomewhere(to) && (!isPath || strings.HasPrefix(to, "..")) {
		return old
	}
	now, err := filepath.Rel(filepath.FromSlash(path.Dir(r.target.Path)), filepath.FromSlash(r.set.moved(to)))
	if err != nil {
		return old
	}
	now = filepath.ToSlash(now)
	if strings.HasSuffix(old, "/") {
		now += "/"
	}
	return now
}

// leadsSomewhere reports whether a path leads into a folder of the project, or to something
// outside of it.
func (s *Set) leadsSomewhere(name string) bool {
	if name == "." || strings.HasPrefix(name, "..") {
		return name == "." || s.Exists(name)
	}
	first, _, _ := strings.Cut(name, "/")
	return first == "bin" || s.Exists(first) // tools are put into bin when they are needed
}
