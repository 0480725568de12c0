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

// parentPath matches a relative path in a command line that leads out of its folder.
var parentPath = lazy.Regexp(`(?:^|[\s=,:"'])\.\.(?:/[^\s"',:=]*)?`)

// relativePaths adapts paths that lead out of the file's folder: string literals that begin with "../", and elements
// that filepath.Join gets.
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
			if text, ok := isParentPath(n); ok && !joined[n] {
				r.literal(n, text)
			}
		}
		return true
	})
}

// isJoin reports whether a call is filepath.Join or path.Join.
func isJoin(call *ast.CallExpr) bool {
	s, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || s.Sel.Name != "Join" || len(call.Args) == 0 {
		return false
	}
	x, ok := s.X.(*ast.Ident)
	return ok && (x.Name == "filepath" || x.Name == "path")
}

// isParentPath returns the text of a literal, and whether it begins with "..".
func isParentPath(lit *ast.BasicLit) (string, bool) {
	if lit.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(lit.Value)
	return text, err == nil && (text == ".." || strings.HasPrefix(text, "../"))
}

// join rewrites the first run of literals in a call of Join. If other arguments precede them, such as the file's own
// folder, it does so only if the path exists.
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
	if up, same := strings.CutSuffix(now, old); same { // the path is deeper now: prepend elements
		ups := strings.Split(strings.TrimSuffix(up, "/"), "/")
		r.replace(args[0].Pos(), args[0].Pos(), quoted(ups)+", ")
		return
	}
	r.replace(args[0].Pos(), args[len(args)-1].End(), quoted(strings.Split(now, "/")))
}

// literals returns the first run of string literals among the arguments, and its index.
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

func quoted(texts []string) string {
	quoted := make([]string, len(texts))
	for i, text := range texts {
		quoted[i] = strconv.Quote(text)
	}
	return strings.Join(quoted, ", ")
}

// literal rewrites a string literal if it is a path in the project. Other texts may begin with "../" too.
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

// relative returns the path from the file's new folder to what old refers to, or old if that is not in the project. If
// isPath is set, the target may be missing, such as CRDs that are not generated yet.
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

// leadsSomewhere reports whether a path leads into an existing folder of the project, or to something that exists
// outside.
func (s *Set) leadsSomewhere(name string) bool {
	if name == "." || strings.HasPrefix(name, "..") {
		return name == "." || s.Exists(name)
	}
	first, _, _ := strings.Cut(name, "/")
	return first == "bin" || s.Exists(first) // tools are installed into bin later
}
