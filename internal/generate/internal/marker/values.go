package marker

import (
	"go/token"

	"github.com/slipway-dev/slipway/internal/report"
)

// Value is a parsed marker.
type Value struct {
	Definition *Definition
	Data       any // of the type that the definition was made from
	Pos        token.Pos
}

// Values are the parsed markers of one node in source order.
type Values []Value

// Has reports whether there is a marker called name.
func (vs Values) Has(name string) bool {
	for i := range vs {
		if vs[i].Definition.Name == name {
			return true
		}
	}
	return false
}

// Get returns the first marker called name when its value is a T.
func Get[T any](vs Values, name string) (T, bool) {
	for i := range vs {
		if vs[i].Definition.Name == name {
			data, ok := vs[i].Data.(T)
			return data, ok
		}
	}
	var zero T
	return zero, false
}

// All returns the values of all markers called name that are a T.
func All[T any](vs Values, name string) []T {
	var all []T
	for i := range vs {
		if vs[i].Definition.Name != name {
			continue
		}
		if data, ok := vs[i].Data.(T); ok {
			all = append(all, data)
		}
	}
	return all
}

// Read is the value of a comment for target as far as it can be read, for those who do not report what is wrong with
// it; ok reports whether the comment is a marker that is defined for target.
func (r *Registry) Read(c Comment, target Target) (value any, ok bool) {
	d := r.Lookup(c, target)
	if d == nil {
		return nil, false
	}
	p := r.parsers.Get().(*parser)
	defer r.parsers.Put(p)
	value, _ = p.parse(d, c)
	return value, true
}

// Parse parses those comments that are defined for target, in order. A bad value
// is a fatal finding and leaves its marker out; markers that are defined nowhere
// are passed over, see [Registry.Misspelt].
func (r *Registry) Parse(fset *token.FileSet, comments []Comment, target Target) (Values, []report.Finding) {
	var values Values
	var findings []report.Finding
	p := r.parsers.Get().(*parser)
	defer r.parsers.Put(p)
	for _, c := range comments {
		d := r.Lookup(c, target)
		if d == nil {
			continue
		}
		data, problem := p.parse(d, c)
		if problem != nil {
			findings = append(findings, report.Finding{
				Rule:       report.RuleInvalidMarker,
				Position:   position(fset, problem.pos),
				Message:    "+" + d.Name + ": " + problem.text,
				Suggestion: problem.suggestion,
				Fatal:      true,
			})
			continue
		}
		values = append(values, Value{Definition: d, Data: data, Pos: c.Pos})
	}
	return values, findings
}

func position(fset *token.FileSet, pos token.Pos) report.Position {
	p := fset.Position(pos)
	return report.Position{File: p.Filename, Line: p.Line, Column: p.Column}
}
