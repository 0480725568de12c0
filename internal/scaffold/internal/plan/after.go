package plan

import (
	"os"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/report"
)

// After has the facts about the project as the plan leaves it so far.
func (p *Plan) After() *codebase.Codebase {
	changed := map[string][]byte{}
	for name, c := range p.known {
		changed[name] = nil
		if c.There() {
			changed[name] = append([]byte{}, c.after...)
		}
	}
	return codebase.Read(fileview.Over(p.view, changed), os.Getenv)
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
