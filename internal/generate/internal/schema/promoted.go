package schema

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/generate/internal/load"
	"github.com/slipway-dev/slipway/internal/report"
)

// promoted is a field as encoding/json finds it in a struct: its own, or one of a struct that it embeds.
type promoted struct {
	path   []string  // the names in Go, from the struct's own field on
	pos    token.Pos // of the struct's own field
	tagged bool      // its name in JSON is in its tag
}

// doubtPromoted doubts fields of embedded structs with one name in JSON and at one depth. Of fields with one name, Go
// programs take the one that is least deep, or at one depth the only one whose tag names it, or else none.
func (b *structBuilder) doubtPromoted() {
	if b.b.options.WithoutDoubts || !b.decl.Package.Local() || marshals(b.decl.Type(), "MarshalJSON") || !embedsSeveral(b.decl.Type()) {
		return
	}
	level := []embedded{{typ: b.decl.Type()}}
	taken := map[string]bool{}
	seen := map[*load.TypeDecl]bool{}
	for len(level) > 0 {
		found := levelFields{byName: map[string][]promoted{}}
		for _, e := range level {
			found.add(e, seen)
		}
		for _, e := range level {
			seen[e.typ.Decl] = true
		}
		for _, name := range found.names {
			if !taken[name] {
				b.doubtDropped(name, found.byName[name])
			}
			taken[name] = true
		}
		level = found.deeper
	}
}

// embedsSeveral reports whether a struct has the fields of more than one that it embeds: those of a single one are
// doubted where that is declared, and few structs embed more, so the types of most fields need not be looked up.
func embedsSeveral(t *load.Type) bool {
	count := 0
	for _, f := range t.StructFields() {
		if name, _, _ := readTag(f.Tag.Get("json")); f.Embedded && name == "" {
			count++
		}
	}
	return count > 1
}

// doubtDropped doubts fields of one name and depth. Those of the struct itself, and those within one embedded struct of
// the user's, are doubted elsewhere.
func (b *structBuilder) doubtDropped(name string, fields []promoted) {
	if named := slices.DeleteFunc(slices.Clone(fields), func(p promoted) bool { return !p.tagged }); len(named) > 0 {
		fields = named
	}
	first := fields[0]
	for _, p := range fields[1:] {
		if len(p.path) > 1 && p.path[0] != first.path[0] {
			b.doubt(report.RuleDuplicateField, p.pos, "give each field a different name, or embed one of the structs",
				"fields %s and %s of %s are both named %q in JSON: Go programs leave out both",
				strings.Join(first.path, "."), strings.Join(p.path, "."), b.decl.Name(), name)
			return
		}
	}
}

// embedded is a struct whose fields are promoted, and the way to it.
type embedded struct {
	typ  *load.Type
	path []string
	pos  token.Pos
}

// levelFields are the fields at one depth, and the structs embedded there.
type levelFields struct {
	names  []string // as found
	byName map[string][]promoted
	deeper []embedded
}

func (l *levelFields) add(e embedded, seen map[*load.TypeDecl]bool) {
	if seen[e.typ.Decl] {
		return // its fields are less deep elsewhere
	}
	for _, f := range e.typ.StructFields() {
		p := promoted{path: append(slices.Clip(e.path), f.Name), pos: e.pos}
		if len(e.path) == 0 && f.Syntax != nil {
			p.pos = f.Syntax.Pos()
		}
		l.field(f, p)
	}
}

func (l *levelFields) field(f load.StructField, p promoted) {
	tag := f.Tag.Get("json")
	name, _, _ := readTag(tag)
	target, isStruct := embeddedStruct(f)
	switch {
	case tag == "-":
	case isStruct && name == "" && target.Kind == load.Named:
		l.embed(embedded{target, p.path, p.pos})
	case ast.IsExported(f.Name) || isStruct && target.Kind != load.Pointer:
		p.tagged = name != ""
		if name == "" {
			name = f.Name
		}
		if l.byName[name] == nil {
			l.names = append(l.names, name)
		}
		l.byName[name] = append(l.byName[name], p)
	}
}

// embeddedStruct is the struct that a field embeds, itself or by a pointer.
func embeddedStruct(f load.StructField) (target *load.Type, ok bool) {
	if !f.Embedded {
		return nil, false
	}
	target = f.Type.Unalias()
	if target.Kind == load.Pointer {
		target = target.Elem.Unalias()
	}
	return target, target.Underlying().Kind == load.Struct
}

// embed adds a struct to the next depth. Two of one type drop each other's fields, so more of them change nothing:
// there may be very many, if structs embed each other in two ways again and again.
func (l *levelFields) embed(e embedded) {
	same := 0
	for _, other := range l.deeper {
		if other.typ.Decl == e.typ.Decl {
			same++
		}
	}
	if same < 2 {
		l.deeper = append(l.deeper, e)
	}
}
