// Package deletion plans the deletion of an API, a controller or webhooks. The planning that creates them runs again
// with plans that record: once for the deleted part, and once for all that stays. The difference is removed.
package deletion

import (
	"slices"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/feature"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/kind"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/newapi"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/newwebhook"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projectfile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/undo"
	"github.com/slipway-dev/slipway/project"
)

// Options select what to delete.
type Options struct {
	Group, Version, Kind string
	ControllerName       string // delete only this named controller, not the kind
	WithChanges          bool   // delete files that the user changed too
	Manager              string // folder of the manager's main package, if there are several
}

// open starts a plan for the project. It refuses invalid names.
func (o Options) open(folder *fileview.Folder) (*plan.Plan, *project.Project, error) {
	if err := kind.CheckNames(o.Group, o.Version, o.Kind, ""); err != nil {
		return nil, nil, err
	}
	p, file, err := projectfile.Open(folder)
	if err != nil {
		return nil, nil, err
	}
	return p, file, p.Code().Choose(o.Manager)
}

// undoRest removes a part of a project except what the kinds in after need.
func undoRest(p *plan.Plan, after *project.Project, d Options, part *plan.Needs) error {
	rest := &plan.Needs{NamesOnly: true}
	recording := p.Record(rest)
	for _, r := range after.Resources {
		if err := needsOf(recording, after, r); err != nil {
			return err
		}
	}
	if err := feature.Record(recording, after); err != nil {
		return err
	}
	return undo.Part(p, part, rest, d.WithChanges, advice)
}

const advice = "--with-changes deletes it, too"

// retire switches off what deploys webhooks if after has none left.
func retire(p *plan.Plan, before, after *project.Project) error {
	own := map[string]bool{}
	for _, r := range before.Resources {
		for _, o := range before.Resources {
			if r.Webhooks != nil && o.Group == r.Group && o.Kind == r.Kind {
				own[before.WebhookFile(r)], own[newwebhook.OldPathsFile(before, r, o)] = true, true
			}
		}
	}
	if len(own) == 0 || slices.ContainsFunc(after.Resources, func(r project.Resource) bool { return r.Webhooks != nil }) {
		return nil
	}
	code, err := p.Code().Webhooks()
	if err != nil || slices.ContainsFunc(code, func(w codebase.Webhook) bool { return !own[w.File] }) {
		return err
	}
	return feature.Retire(p, before)
}

// copyOf returns a copy whose kinds can change independently.
func copyOf(file *project.Project) *project.Project {
	before := *file
	before.Resources = slices.Clone(file.Resources)
	return &before
}

func sameKind(a, b project.Resource) bool {
	return a.Group == b.Group && a.Version == b.Version && a.Kind == b.Kind
}

// needsOf records what a kind consists of.
func needsOf(p *plan.Plan, file *project.Project, r project.Resource) error {
	if err := newwebhook.Record(p, file, r); err != nil {
		return err
	}
	return newapi.Record(p, file, r)
}
