package marker

import (
	"fmt"
	"go/token"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
)

// Misplaced returns a finding for each marker that a generator knows but that has no effect where it stands, with the
// place where it would. All are fatal, for those who want it strictly.
func (r *Registry) Misplaced(fset *token.FileSet, a *Attached) []report.Finding {
	var findings []report.Finding
	add := func(comments []Comment, where func(Comment) string) {
		for _, c := range comments {
			if place := where(c); place != "" {
				findings = append(findings, report.Finding{
					Rule:     report.RuleMisplacedMarker,
					Position: position(fset, c.Pos), Message: place, Suggestion: r.belongs(c), Fatal: true,
				})
			}
		}
	}
	on := func(target Target) func(Comment) string {
		return func(c Comment) string {
			if r.Lookup(c, target) != nil || len(r.targets(c)) == 0 {
				return ""
			}
			return fmt.Sprintf("+%s has no effect on a %s", c.Name(), target)
		}
	}
	add(a.Package, on(Package))
	for _, comments := range a.Types {
		add(comments, on(Type))
	}
	for _, comments := range a.Fields {
		add(comments, on(Field))
	}
	add(a.Unread, func(c Comment) string {
		if !isOwned(c.Text[1:]) || len(r.targets(c)) == 0 {
			return "" // prose about markers, or another program's
		}
		return fmt.Sprintf("+%s has no effect here: generators do not read markers of functions and values", c.Name())
	})
	return findings
}

// targets are what the marker may stand at.
func (r *Registry) targets(c Comment) []Target {
	var found []Target
	for target := range r.byTarget {
		if r.Lookup(c, Target(target)) != nil {
			found = append(found, Target(target))
		}
	}
	return found
}

// belongs says what gives the marker an effect.
func (r *Registry) belongs(c Comment) string {
	var places []string
	for _, target := range r.targets(c) {
		switch target {
		case Package:
			places = append(places, "put it into a separate comment, with an empty line below it")
		case Type:
			places = append(places, "put it directly above a type")
		case Field:
			places = append(places, "put it directly above a field")
		}
	}
	return strings.Join(places, ", or ")
}
