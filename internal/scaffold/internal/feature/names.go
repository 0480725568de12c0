package feature

import (
	"bytes"
	"errors"
	"slices"

	"github.com/slipway-dev/slipway/internal/features"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/piece"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
)

// namesFiles are the files in config/default that build compound names, such as service.namespace.svc.
var namesFiles = [...]string{"names.yaml", "services.yaml"}

func (p *planner) planNames() error {
	data := p.deployedData()
	for _, name := range namesFiles {
		if err := p.RequireFrom("features-names/"+name, "config/default/"+name, data); err != nil {
			return err
		}
	}
	return p.Insert(p.defaultConfig(), plan.These(piece.Item{List: "resources", Name: "services.yaml"}, piece.Entry{List: "replacements", Text: "path: names.yaml"}))
}

// withoutNames removes the replacements for alerts if these are switched off, and [namesFiles] if no feature that stays
// on needs them.
func (p *planner) withoutNames(off []features.Name) error {
	if slices.Contains(off, features.Alerts) {
		if err := p.withoutLine("names_alerts.yaml", piece.Entry{List: "replacements", Text: "path: names_alerts.yaml"}); err != nil {
			return err
		}
	}
	if !slices.ContainsFunc(off, func(f features.Name) bool { return features.Of(f).Names }) {
		return nil
	}
	for _, row := range features.Table() {
		if !row.Names {
			continue
		}
		if is, _, err := p.state(row.Component()); err != nil || is == listed {
			return err
		}
	}
	return p.removeNamesFiles()
}

// removeNamesFiles removes [namesFiles] and their lines. If the user changed one, all stay, since they may serve other
// objects.
func (p *planner) removeNamesFiles() error {
	for _, name := range namesFiles {
		c, err := p.Find("config/default/" + name)
		if err != nil || !c.There() {
			return err
		}
		made, ours := p.Base().File(c.Path())
		if !ours {
			return nil
		}
		if !bytes.Equal(made, c.After()) {
			return p.Keep(c.Path(), "you changed it, so its line stays; remove both if you do not need them")
		}
	}
	if err := p.withoutLine("names.yaml", piece.Entry{List: "replacements", Text: "path: names.yaml"}); err != nil {
		return err
	}
	return p.withoutLine("services.yaml", piece.Item{List: "resources", Name: "services.yaml"})
}

// withoutLine removes a line of config/default and the file that it names. A file that the user changed stays.
func (p *planner) withoutLine(name string, line plan.Piece) error {
	changed := 0
	c, err := p.Find(p.defaultConfig())
	if err == nil {
		_, changed = line.Remove(c.After())
	}
	if err != nil || changed > 0 {
		return errors.Join(err, p.Keep("config/default/"+name, "its line has other text on it"))
	}
	if err := p.Edit(p.defaultConfig(), func(_ string, src []byte) ([]byte, error) {
		out, _ := line.Remove(src)
		return out, nil
	}); err != nil {
		return err
	}
	return p.removeScaffolded("config/default/" + name)
}

// removeScaffolded deletes a file unless the user changed it.
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
