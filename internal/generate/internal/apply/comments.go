package apply

import (
	"go/ast"
	"go/token"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/generate/internal/load"
)

// comments finds the comments that applyconfiguration-gen takes for those of a declaration: the ones that end in the
// line before it, be they about something else.
type comments map[*load.File]map[int]*ast.CommentGroup

// endingIn is the comment that ends in a line.
func (c comments) endingIn(f *load.File, line int) *ast.CommentGroup {
	lines, known := c[f]
	if !known {
		lines = make(map[int]*ast.CommentGroup, len(f.Syntax.Comments))
		for _, group := range f.Syntax.Comments {
			lines[f.Position(group.End()).Line] = group
		}
		c[f] = lines
	}
	return lines[line]
}

// before are the lines of the comment above a place.
func (c comments) before(f *load.File, pos token.Pos) []string {
	return linesOf(c.endingIn(f, f.Position(pos).Line-1))
}

// detached are the lines of the comment that an empty line divides from the one above a place, or from the place.
func (c comments) detached(f *load.File, pos token.Pos) []string {
	if near := c.endingIn(f, f.Position(pos).Line-1); near != nil {
		pos = near.List[0].Slash
	}
	return linesOf(c.endingIn(f, f.Position(pos).Line-2))
}

func linesOf(group *ast.CommentGroup) []string {
	lines := strings.Split(strings.TrimRight(group.Text(), "\n"), "\n") // also of none
	if len(lines) == 1 && lines[0] == "" {
		return nil
	}
	return lines
}

// documentation are the comments of a type.
type documentation struct{ detached, near []string }

func (d documentation) lines() []string { return slices.Concat(d.detached, d.near) }

// documented are the comments of the package's types. An alias has none of its own: they are of the type.
func (w *world) documented(form Form) map[*typ]*documentation {
	all := make(map[*typ]*documentation)
	decls := slices.Clone(w.pkg.Decls())
	slices.SortStableFunc(decls, func(a, b *load.TypeDecl) int { return strings.Compare(a.Name(), b.Name()) })
	for _, d := range decls {
		if d.IsGeneric() {
			continue
		}
		t := w.of(d.Type())
		if t.pkg != w.pkg.Path {
			continue
		}
		doc := all[t]
		if doc == nil {
			doc = &documentation{}
			all[t] = doc
		}
		keep := form.Untold && d.IsAlias()
		replace(&doc.near, w.comments.before(d.File, d.Spec.Name.Pos()), keep, form)
		replace(&doc.detached, w.comments.detached(d.File, d.Spec.Name.Pos()), keep, form)
	}
	return all
}

// replace has lines be those of one more declaration, unless it has none, or keeps those that another has.
func replace(lines *[]string, by []string, keep bool, form Form) {
	if form.Untold && (len(by) == 0 || keep && len(*lines) > 0) {
		return
	}
	*lines = by
}

// packageLines are the lines of all comments in the package's doc.go, the only file that is read for tags.
func (w *world) packageLines() (lines []string) {
	for _, f := range w.pkg.Files() {
		if filepath.Base(f.Path) != "doc.go" {
			continue
		}
		for _, group := range f.Syntax.Comments {
			lines = append(lines, linesOf(group)...)
		}
	}
	return lines
}

// withoutMarkers are lines as comments, without markers.
func withoutMarkers(lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "+") {
			b.WriteString("// " + line + "\n")
		}
	}
	return b.String()
}
