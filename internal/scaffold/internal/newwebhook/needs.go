package newwebhook

import (
	"slices"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/feature"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/header"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/project"
)

// Record repeats the planning of a kind's webhooks in PROJECT with a plan that records.
func Record(p *plan.Plan, file *project.Project, r project.Resource) error {
	if r.Webhooks == nil {
		return nil
	}
	w, err := recorder(p, file, r)
	if err != nil {
		return err
	}
	steps := append(w.steps(), w.recordOldPaths)
	if c, err := p.Find(file.WebhookFile(r)); p.NamesOnly() && err == nil && !c.OnDisk() { // its code is elsewhere
		steps = []func() error{w.planReadiness, w.planModules, w.planFeatures}
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	if r.Webhooks.Defaulting || r.Webhooks.Validation {
		return w.needConfigurations()
	}
	return nil
}

// recorder returns the planner of a kind's webhooks in PROJECT, for a plan that records.
func recorder(p *plan.Plan, file *project.Project, r project.Resource) (*planner, error) {
	h := r.Webhooks
	w := &planner{
		Plan: p, project: file, recorded: &r,
		options: Options{
			Group: r.Group, Version: r.Version, Kind: r.Kind, Plural: r.Plural,
			Defaulting: h.Defaulting, Validation: h.Validation, Conversion: h.Conversion, Spokes: h.Spoke,
			DefaultingPath: h.DefaultingPath, ValidationPath: h.ValidationPath,
		},
	}
	w.resource = r
	if !r.HasOwnPlural() {
		w.resource.Plural = ""
	}
	for _, o := range w.otherVersions() {
		if slices.Contains(h.Spoke, o.Version) {
			w.spokes = append(w.spokes, o)
		}
	}
	var err error
	if w.generation, err = p.Code().Generation(); err != nil {
		return nil, err
	}
	if w.header, err = header.Read(p); err != nil {
		return nil, err
	}
	w.versions = p.Code().Versions()
	return w, nil
}

// needConfigurations records the generated configurations. In a folder of the project's own, webhooks that PROJECT does
// not list keep them.
func (w *planner) needConfigurations() error {
	if w.ownConfigFolder() {
		if byHand, err := feature.WebhooksByHand(w.Plan); err != nil || byHand {
			return err
		}
	}
	w.NeedGenerated(w.generation.WebhookFile(), w.project.WebhookFile(w.resource))
	return nil
}
