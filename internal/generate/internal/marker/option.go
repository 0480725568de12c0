package marker

import (
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/spelling"
)

// ParseOption reads the arguments of d from text that is not a comment, like
// maxDescLen=80,headerFile=x. The finding that says what is wrong has a column in
// text and no file.
func ParseOption(d Definition, text string) (any, *report.Finding) {
	if d.err != nil {
		return nil, &report.Finding{Rule: report.RuleInvalidMarker, Message: d.err.Error(), Fatal: true}
	}
	marker := "+" + d.Name
	if text != "" {
		marker += ":" + text
	}
	data, problem := new(parser).parse(&d, Comment{Text: marker, Pos: 1})
	if problem == nil {
		return data, nil
	}
	return nil, &report.Finding{
		Rule:       report.RuleInvalidMarker,
		Position:   report.Position{Line: 1, Column: max(1, int(problem.pos)-len(d.Name)-2)},
		Message:    d.Name + ": " + problem.text,
		Suggestion: problem.suggestion,
		Fatal:      true,
	}
}

// ParseText reads a marker of a package that is not in a comment, like crd:maxDescLen=80,
// without its plus sign. It returns nothing for a name that r does not know.
func (r *Registry) ParseText(text string) (*Value, *report.Finding) {
	c := Comment{Text: "+" + text, Pos: 1}
	d := r.Lookup(c, Package)
	if d == nil {
		return nil, nil
	}
	data, problem := new(parser).parse(d, c)
	if problem != nil {
		return nil, &report.Finding{
			Rule:       report.RuleInvalidMarker,
			Position:   report.Position{Line: 1, Column: max(1, int(problem.pos)-1)},
			Message:    problem.text,
			Suggestion: problem.suggestion,
			Fatal:      true,
		}
	}
	return &Value{Definition: d, Data: data}, nil
}

// Nearest returns the known name that is at most two letters from a misspelt one, or "".
func (r *Registry) Nearest(name string) string {
	return spelling.Nearest(name, r.names, min(2, len(name)/2))
}
