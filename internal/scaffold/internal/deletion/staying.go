package deletion

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/newapi"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/newwebhook"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projectfile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/references"
	"github.com/slipway-dev/slipway/project"
)

// refuseHalf refuses to delete a kind from PROJECT and the kustomizations while its code stays. A manager that still
// starts the controller would be deployed without its CRD, and no later command would find the kind. Files in the base
// may stay, since a later command finds those.
func (d Options) refuseHalf(p *plan.Plan, file *project.Project, r project.Resource) error {
	var own []string
	if r.API != nil {
		own = append(own, projectfile.TypesFile(p, file, r))
	}
	another, err := newapi.ControlsAnother(p, file, r)
	if err != nil {
		return err
	}
	if r.Controller && !another {
		own = append(own, file.ControllerFile(r))
	}
	for _, path := range own {
		there, err := stays(p, path)
		if err != nil {
			return err
		}
		switch {
		case there && r.API != nil && path == own[0] && path != file.TypesFile(r):
			return &report.Error{
				Class: report.BadProject,
				What:  fmt.Sprintf(halfGone, r.Kind), Where: path,
				Hint: "nothing was changed; the file may hold more than this kind: take its types out by hand, with what uses them, then run the command again",
			}
		case there:
			return d.halfDeletedError(p, r, path, own)
		}
	}
	return nil
}

// stays reports whether a file that slipway did not make exists once the plan is applied.
func stays(p *plan.Plan, path string) (bool, error) {
	if _, scaffolded := p.Base().File(path); scaffolded {
		return false, nil
	}
	c, err := p.Find(path)
	return err == nil && c.There(), err
}

// halfDeletedError is the refusal. It advises --with-changes if that suffices, else what to remove first.
func (d Options) halfDeletedError(p *plan.Plan, r project.Resource, staying string, own []string) error {
	if !d.WithChanges {
		d.WithChanges = true
		if _, err := API(p.Before(), d); err != nil {
			return err
		}
		return &report.Error{
			Class: report.BadProject,
			What:  fmt.Sprintf(halfGone, r.Kind), Where: staying,
			Hint: "nothing was changed; no other code uses it, so --with-changes deletes it",
			Next: "slipway delete api " + flags(r) + " --with-changes",
		}
	}
	users, err := usersOf(p, own)
	if err != nil {
		return err
	}
	return &report.Error{
		Class: report.BadProject,
		What:  fmt.Sprintf(halfGone, r.Kind), Where: staying,
		Hint: "nothing was changed; if the code is to stay, remove the kind's entry in " + project.FileName + " by hand, with its sample and roles. " +
			"Else remove the uses of its code, then delete it with --with-changes:\n  " + strings.Join(users, "\n  "),
	}
}

const halfGone = "the code of %s is not as slipway writes it and would stay, without its CRD and its entry in PROJECT"

// refuseServed refuses to delete webhooks from PROJECT while their code stays. The generator would still write a
// configuration for each marker, and the API server would call webhooks that the manager does not serve. Code in the
// base without a marker may stay, since a later command finds it.
//
// Whole is false if the kind keeps other webhooks. Command is what the user called; again plans it with other options.
func (d Options) refuseServed(p *plan.Plan, file *project.Project, gone project.Resource, whole bool, command string, again func(Options) error) error {
	own := file.WebhookFile(gone)
	foreign, err := stays(p, own)
	if err != nil {
		return err
	}
	place, err := newwebhook.Served(p, file, gone)
	if err != nil || place == "" && (!foreign || !whole) {
		return err
	}
	e := &report.Error{Class: report.BadProject, What: fmt.Sprintf(halfServed, gone.Kind), Where: cmp.Or(place, own)}
	if !d.WithChanges {
		d.WithChanges = true
		if err := again(d); err != nil {
			return err // it names what to remove first
		}
		e.Hint = "nothing was changed; no other code uses it, so --with-changes deletes it; to keep the code, first remove its +kubebuilder:webhook markers"
		e.Next = "slipway delete " + command + " --with-changes"
		return e
	}
	c, err := p.Find(own)
	if err != nil {
		return err
	}
	if !c.There() || !whole {
		e.Hint = "nothing was changed; remove this code by hand, with what calls it, then run the command again"
		return e
	}
	users, err := usersOf(p, []string{own})
	e.Hint = "nothing was changed; remove the uses of its code, then delete it with --with-changes:\n  " + strings.Join(users, "\n  ")
	if err != nil {
		return err
	}
	return e
}

// refuseServedAPI is [Options.refuseServed] for a kind that is deleted with its webhooks.
func (d Options) refuseServedAPI(p *plan.Plan, file *project.Project, gone project.Resource) error {
	if gone.Webhooks == nil {
		return nil
	}
	return d.refuseServed(p, file, gone, true, "api "+flags(gone), func(o Options) error {
		_, err := API(p.Before(), o)
		return err
	})
}

const halfServed = "the code of the webhooks of %s is not as slipway writes it and would stay, without an entry in PROJECT"

// mostUsers bounds the places that a message lists.
const mostUsers = 12

// usersOf returns the places that still use the kind's files once the plan is applied, at most [mostUsers].
func usersOf(p *plan.Plan, own []string) (users []string, err error) {
	sources, err := references.Read(p.Code())
	if err != nil {
		return nil, err
	}
	leaving := map[string]bool{}
	for _, change := range p.Changes() {
		c, err := p.Find(change.Path)
		if err != nil {
			return nil, err
		}
		leaving[change.Path] = !c.There()
		if strings.HasSuffix(change.Path, ".go") && c.There() {
			sources.Set(change.Path, c.After())
		}
	}
	for _, path := range slices.Backward(own) {
		for _, place := range sources.Places(path, leaving) {
			if !slices.Contains(users, place) {
				users = append(users, place)
			}
		}
	}
	if more := len(users) - mostUsers; more > 0 {
		users = append(users[:mostUsers], fmt.Sprintf("and %d more", more))
	}
	return users, nil
}
