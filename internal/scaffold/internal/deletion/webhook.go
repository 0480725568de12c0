package deletion

import (
	"slices"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/newwebhook"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projectfile"
	"github.com/slipway-dev/slipway/project"
)

// WebhookOptions select the webhooks to delete. If none is selected, all are.
type WebhookOptions struct {
	Options
	Defaulting, Validation, Conversion bool
}

// Webhook plans the deletion of webhooks; see [API].
func Webhook(folder *fileview.Folder, d WebhookOptions) (*plan.Plan, error) {
	p, file, err := d.open(folder)
	if err != nil {
		return nil, err
	}
	r := file.Lookup(d.Group, d.Version, d.Kind)
	var going, staying *project.Webhooks
	switch {
	case r == nil:
	case r.Webhooks != nil:
		going, staying = d.split(*r.Webhooks)
	case left(p, file.WebhookFile(*r)) || left(p, newwebhook.TestFile(file, *r, func(name string) bool { return left(p, name) })): // deleted, but for files that were kept
		going, _ = d.split(project.Webhooks{Defaulting: true, Validation: true})
	}
	if going == nil {
		if err := d.refuseUnlistedWebhooks(p, file); err != nil {
			return nil, err
		}
		p.NothingToDo(d.withoutWebhooks(file))
		return p, nil
	}
	part, before := &plan.Needs{}, copyOf(file)
	gone := *r
	gone.Webhooks = going
	if err := newwebhook.Record(p.Record(part), before, gone); err != nil {
		return nil, err
	}
	r.Webhooks = staying
	if staying == nil && r.API == nil && !r.Controller && len(r.Controllers) == 0 {
		file.Resources = slices.DeleteFunc(file.Resources, func(o project.Resource) bool { return sameKind(o, gone) })
	}
	for _, step := range []func() error{
		func() error { return retire(p, before, file) },
		func() error { return undoRest(p, file, d.Options, part) },
		func() error {
			return d.refuseServed(p, file, gone, staying == nil, "webhook "+flags(gone)+d.selectedFlags(), func(o Options) error {
				_, err := Webhook(folder, WebhookOptions{o, d.Defaulting, d.Validation, d.Conversion})
				return err
			})
		},
		func() error { return projectfile.Write(p, file) },
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return p, p.Finish()
}

// split divides the webhooks of a kind into those that are deleted and those that stay. Either may be nil.
func (d WebhookOptions) split(has project.Webhooks) (going, staying *project.Webhooks) {
	all := !d.Defaulting && !d.Validation && !d.Conversion
	out, in := has, has
	out.Defaulting, in.Defaulting = has.Defaulting && (all || d.Defaulting), has.Defaulting && !all && !d.Defaulting
	out.Validation, in.Validation = has.Validation && (all || d.Validation), has.Validation && !all && !d.Validation
	out.Conversion, in.Conversion = has.Conversion && (all || d.Conversion), has.Conversion && !all && !d.Conversion
	for _, half := range []*project.Webhooks{&out, &in} {
		if !half.Defaulting {
			half.DefaultingPath = ""
		}
		if !half.Validation {
			half.ValidationPath = ""
		}
		if !half.Conversion {
			half.Spoke = nil
		}
	}
	return orNone(out), orNone(in)
}

// selectedFlags returns the flags of the selected webhooks.
func (d WebhookOptions) selectedFlags() string {
	return flagsOf(project.Webhooks{Defaulting: d.Defaulting, Validation: d.Validation, Conversion: d.Conversion})
}

// orNone returns nil if w has no webhooks.
func orNone(w project.Webhooks) *project.Webhooks {
	if !w.Defaulting && !w.Validation && !w.Conversion {
		return nil
	}
	return &w
}
