package crd

import (
	"fmt"
	"strings"

	"github.com/slipway-dev/slipway/internal/generate/internal/yaml"
	"github.com/slipway-dev/slipway/internal/report"
)

// refused are the mistakes of a definition that no YAML reader takes: at the place in the code of each such text.
func (p printed) refused() (all []report.Finding) {
	for _, place := range p.unreadable {
		all = append(all, report.Finding{Rule: report.RuleUnwritableText, Position: p.Locate(path(place)), Message: yaml.Refusal, Suggestion: yaml.Remedy, Fatal: true})
	}
	return all
}

// path is a place as [definition.Locate] takes it: names of properties and indexes stand in brackets.
func path(place yaml.Place) string {
	var out strings.Builder
	for i := 0; i < len(place); i++ {
		fmt.Fprintf(&out, ".%s", place[i])
		if list := place[i] == "properties" || place[i] == "versions"; list && i+1 < len(place) {
			i++
			fmt.Fprintf(&out, "[%s]", place[i])
		}
	}
	return strings.TrimPrefix(out.String(), ".")
}
