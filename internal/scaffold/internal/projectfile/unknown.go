package projectfile

import (
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/spelling"
	"github.com/slipway-dev/slipway/project"
)

// refuseUnknown refuses to change a project whose file has a key that the format does not have, as kubebuilder does:
// what a misspelt key says would be passed over, and code written for another project.
func refuseUnknown(file *project.Project) error {
	unknown := file.Unknown()
	if unknown == nil {
		return nil
	}
	hint := "expected one of " + strings.Join(unknown.Known, ", ") + "."
	if near := nearest(unknown.Key, unknown.Known); near != "" {
		hint = "did you mean " + near + "?"
	}
	return &report.Error{
		What: unknown.Summary(), Where: report.Position{File: project.FileName, Line: unknown.Line, Column: unknown.Column}.String(),
		Hint: hint + " Nothing was changed.", Next: seeProject,
	}
}

// nearest is the one of some words that a misspelt one may stand for; "" if none is near.
func nearest(word string, words []string) string {
	limit := min(2, len(word)/3) // of a short word most letters have to be right
	found, distance := "", limit+1
	for _, w := range words {
		if d := spelling.Distance(strings.ToLower(word), strings.ToLower(w), limit); d < distance {
			found, distance = w, d
		}
	}
	return found
}
