package scaffold

import (
	"fmt"
	"slices"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/project"
)

// A WebhookDeletion says which webhooks of a kind to take out; none of them means all.
type WebhookDeletion struct {
	Deletion
	Defaulting, Validation, Conversion bool
}

// DeleteWebhook plans the undoing of what created webhooks in the project in folder
// root; see [DeleteAPI].
func DeleteWebhook(root string, d WebhookDeletion) (*Plan, error) {
	file, err := loadProject(root)
	if err != nil {
		return nil, err
	}
	if err := (API{Group: d.Group, Version: d.Version, Kind: d.Kind}).Check(); err != nil {
		return nil, err
	}
	plan, err := newPlan(root)
	if err != nil {
		return nil, err
	}
	r := file.Lookup(d.Group, d.Version, d.Kind)
	if r == nil || r.Webhooks == nil {
		return nil, withoutWebhooks(file, d)
	}
	going, staying := d.split(*r.Webhooks)
	if going == nil {
		return nil, withoutWebhooks(file, d)
	}
	part := &needs{}
	gone := *r
	gone.Webhooks = going
	if err := plan.needsOfWebhooks(copyOf(file), gone, part); err != nil {
		return nil, err
	}
	r.Webhooks = staying
	if staying == nil && r.API == nil && !r.Controller && len(r.Controllers) == 0 {
		file.Resources = slices.DeleteFunc(file.Resources, func(o project.Resource) bool { return sameKind(o, gone) })
	}
	u, err := plan.undo(file, d.Deletion, part)
	if err != nil {
		return nil, err
	}
	if err := u.plan(); err != nil {
		return nil, err
	}
	if err := plan.writeResources(file); err != nil {
		return nil, err
	}
	return plan, plan.finish()
}

// split divides the webhooks of a kind into those that go and those that stay.
func (d WebhookDeletion) split(has project.Webhooks) (going, staying *project.Webhooks) {
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

// orNone is nil for webhooks of which there are none.
func orNone(w project.Webhooks) *project.Webhooks {
	if !w.Defaulting && !w.Validation && !w.Conversion {
		return nil
	}
	return &w
}

// withoutWebhooks says which webhooks there are.
func withoutWebhooks(file *project.Project, d WebhookDeletion) error {
	e := &report.Error{
		What:  fmt.Sprintf("the project has no such webhooks of %s in the group %q, version %s", d.Kind, d.Group, d.Version),
		Where: project.FileName, Hint: "it has no webhooks at all", Err: ErrAbsent,
	}
	has := ""
	for _, r := range file.Resources {
		if r.Webhooks != nil {
			has += fmt.Sprintf("\n--group %s --version %s --kind %s%s", r.Group, r.Version, r.Kind, flagsOf(*r.Webhooks))
		}
	}
	if has != "" {
		e.Hint = "it has:" + has
	}
	return e
}

func flagsOf(w project.Webhooks) (flags string) {
	for _, f := range []struct {
		has  bool
		flag string
	}{{w.Defaulting, " --defaulting"}, {w.Validation, " --programmatic-validation"}, {w.Conversion, " --conversion"}} {
		if f.has {
			flags += f.flag
		}
	}
	return flags
}

// needsOfWebhooks adds what the webhooks of a kind consist of.
func (p *Plan) needsOfWebhooks(file *project.Project, r project.Resource, to *needs) error {
	if r.Webhooks == nil {
		return nil
	}
	h := r.Webhooks
	w := &webhookPlan{
		apiPlan: &apiPlan{Plan: recording(p.root, p.base, to), project: file, recorded: &r},
		webhook: Webhook{
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
	if err := w.readHeader(); err != nil {
		return err
	}
	for _, step := range w.steps() {
		if err := step(); err != nil {
			return err
		}
	}
	if h.Defaulting || h.Validation {
		to.addGenerated("config/webhook/manifests.yaml", file.WebhookFile(r))
	}
	return nil
}

// needsOfFeatures adds what features consist of that are not there for webhooks alone.
func (p *Plan) needsOfFeatures(file *project.Project, to *needs) error {
	f := &featurePlan{Plan: recording(p.root, p.base, to), project: file}
	for _, feature := range Features() {
		if there, err := f.exists(feature.component()); err != nil {
			return err
		} else if !there || slices.Contains([]Feature{WebhookServer, CertManager, SelfCert}, feature) {
			continue
		}
		if err := f.enable(feature); err != nil {
			return err
		}
	}
	return f.needsOfCertificates()
}

// needsOfCertificates adds what keeps the certificate of the metrics.
func (p *featurePlan) needsOfCertificates() error {
	if there, err := p.exists(MetricsTLS.component()); err != nil || !there {
		return err
	}
	for _, feature := range []Feature{CertManager, SelfCert} {
		if there, err := p.exists(feature.component()); err != nil {
			return err
		} else if !there {
			continue
		}
		if err := p.enable(feature); err != nil {
			return err
		}
	}
	return nil
}
