package marker

import "github.com/slipway-dev/slipway/internal/report"

// ParseOption reads the arguments of d from text that is not a comment, like
// maxDescLen=80,headerFile=x. The finding that says what is wrong has a column in
// text and no file.
func ParseOption(d Definition, text string) (any, *report.Finding) {
	if d.err != nil {
		return nil, &report.Finding{Message: d.err.Error(), Fatal: true}
	}
	marker := "+" + d.Name
	if text != "" {
		marker += ":" + text
	}
	data, problem := d.parse(Comment{Text: marker, Pos: 1})
	if problem == nil {
		return data, nil
	}
	return nil, &report.Finding{
		Position:   report.Position{Line: 1, Column: max(1, int(problem.pos)-len(d.Name)-2)},
		Message:    d.Name + ": " + problem.text,
		Suggestion: problem.suggestion,
		Fatal:      true,
	}
}
