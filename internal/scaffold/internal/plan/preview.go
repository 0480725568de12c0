package plan

import (
	"bytes"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/base"
)

// A Difference is what a plan would make of a file.
type Difference struct {
	Path   string        `json:"path"`
	Action report.Action `json:"action"`
	From   string        `json:"from,omitempty"` // of a moved file
	Why    string        `json:"why,omitempty"`
	Diff   string        `json:"diff,omitempty"` // unified, as patch and git apply take it; none of the base
}

// Differences lists what Apply would do, in its order, with the text of each change if
// diffs are wanted.
func (p *Plan) Differences(diffs bool) []Difference {
	var differences []Difference
	for _, c := range p.told() {
		d := Difference{Path: c.path, Action: p.actionOn(c), From: p.movedFrom(c), Why: c.why}
		switch {
		case !diffs || !c.writes() || c.path == base.Path:
		case d.From != "":
			d.Diff = p.known[d.From].moved(c)
		default:
			d.Diff = c.diff()
		}
		differences = append(differences, d)
	}
	return differences
}

// After has the facts about the project as the plan leaves it so far.
func (p *Plan) After() *codebase.Codebase {
	return p.code.As(fileview.Over(p.folder, p.Changed()))
}

// Changed are the contents of the files that the plan changes; nil is that of one that it takes away.
func (p *Plan) Changed() map[string][]byte {
	changed := map[string][]byte{}
	for name, c := range p.known {
		switch {
		case !c.There():
			changed[name] = nil
		case !c.exists || !bytes.Equal(c.before, c.after):
			changed[name] = append([]byte{}, c.after...)
		}
	}
	return changed
}

// ConfigChange is what the plan does to the project's kustomizations.
func (p *Plan) ConfigChange() (*codebase.ConfigChange, error) {
	changed := map[string]bool{}
	for _, f := range p.Changes() {
		if f.Action != report.Kept && f.Action != report.Unchanged {
			changed[f.Path], changed[f.From] = true, true
		}
	}
	delete(changed, "")
	return p.code.ConfigAfter(p.After(), changed)
}
