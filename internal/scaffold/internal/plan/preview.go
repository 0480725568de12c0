package plan

import (
	"github.com/slipway-dev/slipway/internal/report"
)

// A Difference is what a plan would make of a file.
type Difference struct {
	Path   string        `json:"path"`
	Action report.Action `json:"action"`
	Why    string        `json:"why,omitempty"`
	Diff   string        `json:"diff,omitempty"` // unified, as patch and git apply take it; none of the base
}

// Differences lists what Apply would do, in its order, with the text of each change if
// diffs are wanted.
func (p *Plan) Differences(diffs bool) []Difference {
	differences := make([]Difference, len(p.changes))
	for i, c := range p.changes {
		differences[i] = Difference{Path: c.path, Action: c.action, Why: c.why}
		if diffs && c.writes() && c.path != BaseFile {
			differences[i].Diff = c.diff()
		}
	}
	return differences
}
