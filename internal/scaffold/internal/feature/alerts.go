package feature

import (
	"path"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/piece"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/templates"
)

// runbooks is the folder with a page for each alert.
const runbooks = "docs/runbooks"

// planAlertNames plans what puts the job and the namespace into the expressions of alerts.
func (p *planner) planAlertNames() error {
	const name = "names_alerts.yaml"
	data := p.deployedData()
	if err := p.RequireFrom("features-names/"+name, "config/default/"+name, data); err != nil {
		return err
	}
	return p.Put(p.defaultConfig(), plan.These(piece.Entry{List: "replacements", Text: "path: " + name}))
}

// planRunbooks plans the pages to which alerts link.
func (p *planner) planRunbooks() error {
	const tree = "features-runbooks"
	names, err := templates.Below(tree)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := p.RequireFrom(path.Join(tree, name), path.Join(runbooks, name), p.data()); err != nil {
			return err
		}
	}
	return nil
}
