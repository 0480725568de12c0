package marker

import (
	"cmp"
	"fmt"
	"go/token"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/spelling"
)

// ownPrefix is the namespace whose unknown markers are always a mistake.
const ownPrefix = "kubebuilder:"

// foreign are names below ownPrefix that other programs read.
var foreign = []string{"kubebuilder:scaffold:", "kubebuilder:docs-gen:", "kubebuilder:altName", "kubebuilder:informers", "kubebuilder:categories", "kubebuilder:doc:"}

// Misspelt returns a finding for each comment whose name no generator knows, on any
// target, and that is either in the kubebuilder namespace or nearly a known name.
// It is fatal, for those who want it strictly, for what is nearly a known name within a
// namespace of generators: there it cannot be meant for another tool.
func (r *Registry) Misspelt(fset *token.FileSet, comments []Comment) []report.Finding {
	var findings []report.Finding
	suggested := make(map[string]string)
	for _, c := range comments {
		if since := r.since(c); since != "" {
			findings = append(findings, report.Finding{
				Rule:       report.RuleNewerMarker,
				Position:   position(fset, c.Pos),
				Message:    fmt.Sprintf("+%s has no effect here before controller-gen %s, and the project's is older", c.Name(), since),
				Suggestion: "pin " + since + " or later, or remove the marker",
			})
			continue
		}
		if r.knows(c) {
			findings = append(findings, r.passedOver(fset, c)...)
			continue
		}
		nearest, done := suggested[c.Name()]
		if !done {
			nearest = r.nearest(c)
			suggested[c.Name()] = nearest
		}
		if nearest == "" && (!strings.HasPrefix(c.Text[1:], ownPrefix) || isForeign(c.Text[1:])) {
			continue
		}
		f := report.Finding{
			Rule:     report.RuleUnknownMarker,
			Position: position(fset, c.Pos),
			Message:  fmt.Sprintf("unknown marker +%s has no effect", c.Name()),
			Fatal:    nearest != "" && isOwned(c.Text[1:]),
		}
		if nearest != "" {
			f.Suggestion = "did you mean +" + nearest + "?"
			f.Fix = c.rename(f.Position, c.written(nearest), nearest)
		}
		findings = append(findings, f)
	}
	return findings
}

// since is the first version that knows a marker which this one does not, or "".
func (r *Registry) since(c Comment) string {
	named, nameless, _ := split(c.Text)
	if len(r.later) == 0 || r.defines(nameless) || r.defines(named) {
		return ""
	}
	return cmp.Or(r.later[nameless], r.later[named])
}

func isOwned(name string) bool {
	return strings.HasPrefix(name, ownPrefix) || strings.HasPrefix(name, "k8s:")
}

func isForeign(name string) bool {
	for _, prefix := range foreign {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// withColon returns what is meant by a marker that has a colon where an equals sign belongs, or "".
func (r *Registry) withColon(text string) string {
	colon := strings.LastIndexByte(text, ':')
	if colon < 0 || strings.Contains(text, "=") {
		return ""
	}
	for _, definitions := range r.byTarget {
		if d := definitions[text[:colon]]; d != nil && d.takesValue() {
			return text[:colon] + "=" + text[colon+1:]
		}
	}
	return ""
}

// passedOver returns a finding for a word between the name of a marker that takes one value and that value, as x in
// +kubebuilder:default:x=false. It is passed over: the value is false, whatever x is. A colon alone means nothing else.
func (r *Registry) passedOver(fset *token.FileSet, c Comment) []report.Finding {
	named, nameless, rest := split(c.Text)
	if named == nameless || nameless == named+":" || r.defines(nameless) {
		return nil
	}
	for _, definitions := range r.byTarget {
		if d := definitions[named]; d != nil && d.takesValue() {
			at := position(fset, c.Pos)
			return []report.Finding{{
				Rule:       report.RuleIgnoredArgument,
				Position:   at,
				Fix:        c.rename(at, nameless, named),
				Message:    fmt.Sprintf("+%s takes one value without a name: %q is ignored, and the value is %s", named, nameless[len(named)+1:], rest),
				Suggestion: "write +" + named + "=" + rest,
			}}
		}
	}
	return nil
}

// defines reports whether a name is that of a marker, on any target.
func (r *Registry) defines(name string) bool {
	return slices.ContainsFunc(r.byTarget[:], func(definitions map[string]*Definition) bool { return definitions[name] != nil })
}

// nearest returns the known name that the marker's writer most likely meant, or
// "". Short names must be nearly right: many words are one letter from another.
func (r *Registry) nearest(c Comment) string {
	named, nameless, _ := split(c.Text)
	if isForeign(nameless) {
		return ""
	}
	if known := r.withColon(nameless); known != "" {
		return known
	}
	best, bestDistance := "", 1<<30
	for _, written := range []string{nameless, named} {
		limit := 1 + len(written)/10
		if len(written) < 6 {
			continue
		}
		for _, known := range r.names {
			d := spelling.Distance(strings.ToLower(written), strings.ToLower(known), limit)
			if d <= limit && d < bestDistance {
				best, bestDistance = known, d
			}
		}
	}
	if best == "" {
		return r.elsewhere(nameless)
	}
	return best
}

// written is the part of a marker that stands for the known name which its writer most likely meant: with the name of
// its first argument or without.
func (c Comment) written(nearest string) string {
	named, nameless, _ := split(c.Text)
	far := len(nameless) + len(nearest)
	if spelling.Distance(named, nearest, far) < spelling.Distance(nameless, nearest, far) {
		return named
	}
	return nameless
}

// rename is the fix that replaces the beginning of a marker, behind its plus sign.
func (c Comment) rename(at report.Position, old, name string) report.Fix {
	begin := at.Column + len("+")
	return report.Fix{Line: at.Line, Column: begin, EndColumn: begin + len(old), Replaces: old, Replacement: name}
}

// elsewhere returns the shortest known name that ends as a name below [ownPrefix] does, or "": pages of other tools
// have markers below the wrong part, such as +kubebuilder:validation:Default.
func (r *Registry) elsewhere(name string) (shortest string) {
	last := name[strings.LastIndexByte(name, ':')+1:]
	if !strings.HasPrefix(name, ownPrefix) {
		return ""
	}
	for _, known := range r.names {
		if strings.HasPrefix(known, ownPrefix) && strings.EqualFold(known[strings.LastIndexByte(known, ':')+1:], last) && (shortest == "" || len(known) < len(shortest)) {
			shortest = known
		}
	}
	return shortest
}
