package load

import (
	"fmt"
	"go/ast"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
)

// explainForeign tells, of mistakes in types of dependencies, which field of the user's code leads there: that is what
// the user can change.
func (l *Loader) explainForeign(findings []report.Finding) {
	wanted := make(map[*TypeDecl][]*report.Finding)
	for i := range findings {
		if d := l.foreignAt(findings[i]); d != nil {
			wanted[d] = append(wanted[d], &findings[i])
		}
	}
	if len(wanted) == 0 {
		return
	}
	for _, lead := range l.leads() {
		for _, f := range wanted[lead.to] {
			text := fmt.Sprintf("%s, %s, leads there: mark that field with +kubebuilder:validation:Schemaless and +kubebuilder:pruning:PreserveUnknownFields, or give it a type of your own", lead.from, lead.at)
			f.Suggestion = strings.TrimPrefix(f.Suggestion+"; "+text, "; ")
		}
	}
}

// foreignAt is the declaration of a dependency in which there is a mistake, or nil.
func (l *Loader) foreignAt(f report.Finding) *TypeDecl {
	if !f.Fatal {
		return nil
	}
	for _, p := range l.loaded() {
		if p.Dir != filepath.Dir(f.File) || p.Local() {
			continue
		}
		for _, d := range p.Decls() {
			begin, end := l.Position(d.Spec.Pos()), l.Position(d.Spec.End())
			for _, doc := range []*ast.CommentGroup{d.Spec.Doc, d.Gen.Doc} {
				if doc != nil {
					begin.Line = min(begin.Line, l.Position(doc.Pos()).Line)
				}
			}
			if f.File == begin.File && begin.Line <= f.Line && f.Line <= end.Line {
				return d
			}
		}
	}
	return nil
}

// loaded are the packages so far, by path.
func (l *Loader) loaded() (all []*Package) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.packages {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b *Package) int { return strings.Compare(a.Dir, b.Dir) })
	return slices.Compact(all)
}

// A lead is a field of the user's code, or a type, by which a declaration of a dependency is used.
type lead struct {
	from string
	at   report.Position
	to   *TypeDecl
}

// leads are one for each declaration of a dependency that the user's code uses, and that those use, the nearest first.
func (l *Loader) leads() []lead {
	var all []lead
	seen := make(map[*TypeDecl]bool)
	add := func(from string, at report.Position, types []*TypeDecl) {
		for _, d := range types {
			if !seen[d] && !d.Package.Local() {
				seen[d] = true
				all = append(all, lead{from, at, d})
			}
		}
	}
	for _, p := range l.loaded() {
		if !p.Local() {
			continue
		}
		for _, d := range p.Decls() {
			for _, f := range d.serialised() {
				add("the field "+d.Name()+"."+f.name(), l.ShortPosition(f.Syntax.Pos()), d.namedIn(f.Syntax.Type))
			}
			if _, is := d.Spec.Type.(*ast.StructType); !is {
				add("the type "+d.Name(), l.ShortPosition(d.Spec.Pos()), d.namedIn(d.Spec.Type))
			}
		}
	}
	for i := 0; i < len(all); i++ {
		d := all[i].to
		for _, f := range d.serialised() {
			add(all[i].from, all[i].at, d.namedIn(f.Syntax.Type))
		}
		if _, is := d.Spec.Type.(*ast.StructType); !is {
			add(all[i].from, all[i].at, d.namedIn(d.Spec.Type))
		}
	}
	return all
}

// serialised are the fields that a schema has.
func (d *TypeDecl) serialised() []*Field {
	return slices.DeleteFunc(slices.Clone(d.Fields()), func(f *Field) bool {
		return f.Tag.Get("json") == "-" || f.Markers.Has("kubebuilder:validation:Schemaless")
	})
}

// name is the field's name; that of its type if it is embedded.
func (f *Field) name() string {
	if f.Name != "" {
		return f.Name
	}
	return embeddedName(f.Syntax.Type)
}

// namedIn are the declarations that a type expression names.
func (d *TypeDecl) namedIn(expr ast.Expr) (all []*TypeDecl) {
	todo := []*Type{d.TypeOf(expr)}
	for len(todo) > 0 {
		t := todo[0]
		todo = todo[1:]
		if t.Decl != nil {
			all = append(all, t.Decl)
			continue
		}
		for _, part := range []*Type{t.Key, t.Elem} {
			if part != nil {
				todo = append(todo, part)
			}
		}
	}
	return all
}
