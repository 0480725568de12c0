package marker

import (
	"go/ast"
	"go/token"
	"iter"
)

// Attached are the markers of one file by what they stand at.
type Attached struct {
	// Package are those that stand alone in the file.
	Package []Comment
	// Types and Fields are those of type declarations and of the fields of
	// structs that such a declaration names.
	Types  map[*ast.TypeSpec][]Comment
	Fields map[*ast.Field][]Comment
	// Unread are those that describe nothing: in functions, and in the doc comments
	// of what is neither a type nor a field.
	Unread []Comment
}

// Attach finds the markers of file, which must have been parsed with comments.
//
// A type or field has the markers of its doc comment and those of the comment group next above it. A type gives back
// the markers of the latter that r knows for packages and not for types. Everything else between declarations belongs
// to the package; the doc comments of functions, values and imports hold no markers, nor do the insides of functions.
func Attach(file *ast.File, r *Registry) *Attached {
	a := &attacher{
		comments: file.Comments,
		found:    &Attached{Types: make(map[*ast.TypeSpec][]Comment), Fields: make(map[*ast.Field][]Comment)},
	}
	free, above, doc := a.upTo(file.Package, file.Doc)
	a.toPackage(free, above, doc)
	for _, decl := range file.Decls {
		a.decl(decl)
	}
	for ; a.next < len(a.comments); a.next++ {
		a.toPackage(markersOf(a.comments[a.next], false))
	}
	a.giveBack(file, r)
	return a.found
}

// attacher goes once through a file's comments in source order; next is the
// first that nothing has claimed.
type attacher struct {
	comments []*ast.CommentGroup
	next     int
	found    *Attached
}

// upTo claims the comments before pos and divides them: the doc comment of what
// begins at pos, the group above that, and all earlier ones.
func (a *attacher) upTo(pos token.Pos, docGroup *ast.CommentGroup) (free, above, doc []Comment) {
	first := a.next
	a.skip(pos)
	groups := a.comments[first:a.next]
	if n := len(groups); n > 0 && docGroup != nil && groups[n-1] == docGroup {
		doc = markersOf(docGroup, true)
		groups = groups[:n-1]
	}
	if n := len(groups); n > 0 {
		above = markersOf(groups[n-1], false)
		groups = groups[:n-1]
	}
	for _, group := range groups {
		free = append(free, markersOf(group, false)...)
	}
	return free, above, doc
}

// skip claims the comments before pos for nobody.
func (a *attacher) skip(pos token.Pos) {
	for a.next < len(a.comments) && a.comments[a.next].Pos() < pos {
		a.next++
	}
}

// skipNode claims what is left inside of a node, and the comment at the end of
// its line, for nobody.
func (a *attacher) skipNode(n ast.Node, line *ast.CommentGroup) {
	a.skip(n.End())
	if line != nil {
		a.skip(line.End())
	}
}

// inside claims the comments in a function, which nobody reads.
func (a *attacher) inside(f *ast.FuncDecl) {
	first := a.next
	a.skip(f.End())
	for _, group := range a.comments[first:a.next] {
		a.found.Unread = append(a.found.Unread, markersOf(group, false)...)
	}
}

func (a *attacher) toPackage(markers ...[]Comment) {
	for _, ms := range markers {
		a.found.Package = append(a.found.Package, ms...)
	}
}

func (a *attacher) decl(decl ast.Decl) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		free, above, doc := a.upTo(d.Pos(), d.Doc)
		a.toPackage(free, above)
		a.found.Unread = append(a.found.Unread, doc...)
		a.inside(d)
	case *ast.GenDecl:
		free, above, doc := a.upTo(d.TokPos, d.Doc)
		a.toPackage(free)
		single := d.Tok == token.TYPE && !d.Lparen.IsValid()
		if !single {
			a.toPackage(above)
			a.found.Unread = append(a.found.Unread, doc...)
			above, doc = nil, nil
		}
		for _, spec := range d.Specs {
			a.spec(spec, append(above, doc...))
		}
	case *ast.BadDecl:
		free, above, _ := a.upTo(d.Pos(), nil)
		a.toPackage(free, above)
	}
	a.skip(decl.End())
}

// spec attaches the markers of a type, those of its declaration before its own.
func (a *attacher) spec(spec ast.Spec, fromDecl []Comment) {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		_, above, doc := a.upTo(s.Pos(), s.Doc)
		if all := append(append(fromDecl, above...), doc...); len(all) > 0 {
			a.found.Types[s] = all
		}
		if st, ok := s.Type.(*ast.StructType); ok {
			a.fields(st)
		}
		a.skipNode(s, s.Comment)
	case *ast.ValueSpec:
		a.skipNode(s, s.Comment)
	case *ast.ImportSpec:
		a.skipNode(s, s.Comment)
	}
}

func (a *attacher) fields(st *ast.StructType) {
	a.skip(st.Fields.Opening)
	for _, f := range st.Fields.List {
		_, above, doc := a.upTo(f.Pos(), f.Doc)
		if all := append(above, doc...); len(all) > 0 {
			a.found.Fields[f] = all
		}
		a.skipNode(f, f.Comment)
	}
}

// giveBack moves what was taken for a type's marker but is only known for
// packages; doc comments always stay.
func (a *attacher) giveBack(file *ast.File, r *Registry) {
	for _, decl := range file.Decls {
		d, ok := decl.(*ast.GenDecl)
		if !ok || d.Tok != token.TYPE {
			continue
		}
		for _, spec := range d.Specs {
			s := spec.(*ast.TypeSpec)
			a.found.Types[s] = a.keep(a.found.Types[s], r)
		}
	}
}

func (a *attacher) keep(comments []Comment, r *Registry) []Comment {
	kept := comments[:0]
	for _, c := range comments {
		if c.Doc || r.Lookup(c, Type) != nil || r.Lookup(c, Package) == nil {
			kept = append(kept, c)
		} else {
			a.toPackage([]Comment{c})
		}
	}
	return kept
}

// All yields the markers of everything in the file, in no particular order of
// what they stand at.
func (a *Attached) All() iter.Seq[Comment] {
	return func(yield func(Comment) bool) {
		for _, c := range a.Package {
			if !yield(c) {
				return
			}
		}
		for _, comments := range a.Types {
			for _, c := range comments {
				if !yield(c) {
					return
				}
			}
		}
		for _, comments := range a.Fields {
			for _, c := range comments {
				if !yield(c) {
					return
				}
			}
		}
	}
}
