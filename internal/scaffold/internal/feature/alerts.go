package feature

import (
	"bytes"
	"errors"
	"path"
	"slices"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/piece"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/templates"
)

// runbooks is the folder with a page for each alert.
const runbooks = "docs/runbooks"

// planAlertNames plans what puts the job and the namespace into the expressions of alerts.
func (p *planner) planAlertNames() error {
	const name = "names_alerts.yaml"
	data, err := p.deployedData()
	if err != nil {
		return err
	}
	if err := p.RequireFrom("features-names/"+name, "config/default/"+name, data); err != nil {
		return err
	}
	return p.Put(defaultConfig, plan.These(piece.Entry{List: "replacements", Text: "path: " + name}))
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

// withoutNames takes out what puts names into the expressions of alerts that are switched off, and what puts names
// together if no other feature needs it.
func (p *planner) withoutNames(off []Feature) error {
	if !slices.Contains(off, Alerts) {
		return nil
	}
	steps := []func() error{p.withoutLine("names_alerts.yaml", piece.Entry{List: "replacements", Text: "path: names_alerts.yaml"})}
	needed := false
	for _, f := range []Feature{CertManager, MetricsTLS} {
		on, err := p.on(f)
		if err != nil {
			return err
		}
		needed = needed || on
	}
	if !needed {
		steps = append(steps, p.withoutLine("names.yaml", piece.Entry{List: "replacements", Text: "path: names.yaml"}),
			p.withoutLine("services.yaml", piece.Item{List: "resources", Name: "services.yaml"}))
	}
	return runAll(steps)
}

// withoutLine takes out a line of the default configuration, and the file that it names, which stays if it was changed.
func (p *planner) withoutLine(name string, line plan.Piece) func() error {
	return func() error {
		changed := 0
		c, err := p.Find(defaultConfig)
		if err == nil {
			_, changed = line.Take(c.After())
		}
		if err != nil || changed > 0 {
			return errors.Join(err, p.Keep("config/default/"+name, "its line has other text on it"))
		}
		if err := p.Edit(defaultConfig, func(_ string, src []byte) ([]byte, error) {
			out, _ := line.Take(src)
			return out, nil
		}); err != nil {
			return err
		}
		return p.removeScaffolded("config/default/" + name)
	}
}

// removeScaffolded deletes a file that is as it was made.
func (p *planner) removeScaffolded(name string) error {
	c, err := p.Find(name)
	if err != nil || !c.There() {
		return err
	}
	if made, ok := p.Base().File(name); ok && bytes.Equal(made, c.After()) {
		return p.Remove(name)
	}
	return p.Keep(name, "you changed it; delete it if you do not need it")
}
