// Package deletion plans the undoing of what created an API or webhooks. The same planning that makes a part
// runs with a plan that records, once for the part that goes and once for all that stays; the difference goes.
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

// Options say what to take out of a project.
type Options struct {
	Group, Version, Kind string
	ControllerName       string // one more controller alone, and not the whole kind
	WithChanges          bool   // also files that the user has changed
	Manager              string // the folder of its main package, of several
}

// open starts a plan for the project, unless no kind can have such a name.
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

// undoRest takes a part out of a project. The rest is what the project consists of when it is as
// in after.
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
	return undo.Part(p, part, rest, d.WithChanges, "--with-changes deletes it, too")
}

// retire switches off what deploys webhooks once the project has none: before is the project with the last ones, and
// after without.
func retire(p *plan.Plan, before, after *project.Project) error {
	own := map[string]bool{}
	for _, r := range before.Resources {
		if r.Webhooks != nil {
			own[before.WebhookFile(r)] = true
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

// copyOf is the project as it is, for when its kinds will change.
func copyOf(file *project.Project) *project.Project {
	before := *file
	before.Resources = slices.Clone(file.Resources)
	return &before
}

// sameKind reports whether two entries of PROJECT are about the same version of a kind.
func sameKind(a, b project.Resource) bool {
	return a.Group == b.Group && a.Version == b.Version && a.Kind == b.Kind
}

// needsOf records what a kind of the project consists of.
func needsOf(p *plan.Plan, file *project.Project, r project.Resource) error {
	if err := newwebhook.Record(p, file, r); err != nil {
		return err
	}
	return newapi.Record(p, file, r)
}
