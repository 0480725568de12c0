package feature

import (
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/features"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/manager"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/piece"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/project"
)

// converted returns the hubs of the kinds that a webhook converts.
func (p *planner) converted() []project.Resource {
	var hubs []project.Resource
	for _, r := range p.project.Resources {
		if r.Webhooks != nil && r.Webhooks.Conversion {
			hubs = append(hubs, r)
		}
	}
	return hubs
}

// conversionPatch is the name of a converted kind's file in the folder of a component.
func (p *planner) conversionPatch(r project.Resource) string {
	return "conversion_" + strings.TrimSuffix(p.project.CRDFileName(r), ".yaml") + ".yaml"
}

// planWebhookItems lists what differs between projects: the generated configurations, which do not exist if all
// webhooks are for conversion, and the patches of converted kinds.
func (p *planner) planWebhookItems() error {
	var of []plan.Piece
	admission, err := p.admission()
	if err != nil {
		return err
	}
	if admission {
		of = append(of, piece.Item{List: "resources", Name: "manifests.yaml"})
	}
	for _, r := range p.converted() {
		name := p.conversionPatch(r)
		if err := p.RequireFrom("webhook/conversion.yaml", "config/webhook/"+name, map[string]any{"Resource": r}); err != nil {
			return err
		}
		of = append(of, piece.Entry{List: "patches", Text: "path: " + name})
	}
	return p.Insert(p.component(features.WebhookServer), plan.These(of...))
}

// webhookManifests is the file that the generator writes.
const webhookManifests = "config/webhook/manifests.yaml"

// admission reports whether configurations are generated: for webhooks in PROJECT, or for one written by hand.
func (p *planner) admission() (bool, error) {
	if slices.ContainsFunc(p.project.Resources, func(r project.Resource) bool {
		return r.Webhooks != nil && (r.Webhooks.Defaulting || r.Webhooks.Validation)
	}) {
		return true, nil
	}
	return WebhooksByHand(p.Plan)
}

// WebhooksByHand reports whether code that was not scaffolded declares a webhook, such as one for a core type that is
// registered by its path. PROJECT does not list it.
func WebhooksByHand(p *plan.Plan) (bool, error) {
	all, err := p.Code().Webhooks()
	return slices.ContainsFunc(all, func(w codebase.Webhook) bool {
		_, scaffolded := p.Base().File(w.File)
		return !scaffolded
	}), err
}

// recordByHand records what deploys a webhook written by hand.
func (p *planner) recordByHand() error {
	if there, err := p.Exists(p.component(features.WebhookServer)); err != nil || !there {
		return err
	}
	if foreign, err := p.inKubebuilderForm(features.WebhookServer); err != nil || foreign {
		return err
	}
	if byHand, err := WebhooksByHand(p.Plan); err != nil || !byHand {
		return err
	}
	p.NeedGenerated(webhookManifests, "")
	if err := p.enable(features.WebhookServer); err != nil {
		return err
	}
	return p.recordIssuers()
}

// planInjection lists the kinds into whose definitions cert-manager puts its authority.
func (p *planner) planInjection() error {
	var of []plan.Piece
	for _, r := range p.converted() {
		of = append(of, piece.Entry{List: "patches", Text: "{path: injection.yaml, target: {kind: CustomResourceDefinition, name: " + r.CRDName() + "}}"})
	}
	return p.Insert(p.component(features.CertManager), plan.These(of...))
}

// planRotationItems lists the kinds into whose definitions the manager puts its own authority.
func (p *planner) planRotationItems() error {
	var of []plan.Piece
	for _, r := range p.converted() {
		name := p.conversionPatch(r)
		if err := p.RequireFrom("webhook/conversion_rbac.yaml", "config/selfcert/"+name, map[string]any{"Resource": r}); err != nil {
			return err
		}
		of = append(of, piece.Entry{List: "patches", Text: "{path: " + name + ", target: {kind: ClusterRole, name: certificate-role}}"})
	}
	return p.Insert(p.component(features.SelfCert), plan.These(of...))
}

// Serve plans what deploys webhooks, and the certificate provider: the given one or, if that is "", the project's. A
// feature that was disabled after its files were written stays off. If the project deploys its manager or webhooks in
// another way and no provider is given, Serve changes nothing and reports the place.
func Serve(on *plan.Plan, file *project.Project, header string, certificates features.Name) error {
	p := &planner{Plan: on, project: file, header: header}
	if certificates != "" {
		return p.serveWith(certificates)
	}
	elsewhere, err := p.servedElsewhere()
	if err != nil {
		return err
	}
	if elsewhere != "" {
		p.Leave(elsewhere + "; what deploys the new webhooks is left to you: a configuration that names their path, a Service and a certificate")
		return nil
	}
	ownCertificates, err := p.deploysWithoutCertManager()
	if err != nil {
		return err
	}
	if err := errors.Join(p.addMissing(features.WebhookServer), p.listConfigurations()); err != nil {
		return err
	}
	other, _, err := p.otherFolder(features.CertManager)
	if err != nil {
		return err
	}
	if other != "" {
		p.Leave(other + ": the project has cert-manager of its own: see to it that the webhooks get a certificate, from there or from elsewhere")
		return nil
	}
	if ownCertificates {
		p.Leave(p.defaultConfig() + ": webhooks are deployed here without cert-manager, which stays off; if it is to issue their certificate: slipway edit --enable certmanager")
		return nil
	}
	providers, err := p.certificateIssuers()
	if err != nil {
		return err
	}
	for _, provider := range providers {
		if err := p.addMissing(provider); err != nil {
			return err
		}
	}
	return nil
}

// listConfigurations lists the generated configurations in a folder that kubebuilder made, which lists them only once
// they exist.
func (p *planner) listConfigurations() error {
	foreign, err := p.inKubebuilderForm(features.WebhookServer)
	if err != nil || !foreign {
		return err
	}
	admission, err := p.admission()
	if err != nil || !admission {
		return err
	}
	return p.Insert(p.component(features.WebhookServer), plan.These(piece.Item{List: "resources", Name: path.Base(webhookManifests)}))
}

// serveWith plans what deploys webhooks with a provider that the user named.
func (p *planner) serveWith(certificates features.Name) error {
	return runAll([]func() error{
		func() error { return p.requireConfig(features.WebhookServer) },
		p.requireServable,
		func() error { return p.requireNoOther(certificates) },
		func() error { return p.addMissing(features.WebhookServer) },
		func() error { return p.enable(certificates) },
	})
}

// servedElsewhere returns where and why the project deploys its manager or webhooks otherwise than layouts do, or "".
func (p *planner) servedElsewhere() (string, error) {
	if p.Recording() {
		return "", nil
	}
	err := p.requireConfig(features.WebhookServer)
	if err == nil {
		err = p.requireServable()
	}
	if refusal, ok := errors.AsType[*report.Error](err); ok {
		return refusal.Where + ": " + refusal.What, nil
	}
	if err != nil {
		return "", err
	}
	return p.listedElsewhere()
}

// listedElsewhere returns the overlay that lists config/webhook in place of config/default, and a reason. It returns ""
// if config/default has the line. A commented line counts too, unless the overlay builds on config/default and would
// get the folder twice.
func (p *planner) listedElsewhere() (string, error) {
	is, _, foreign, err := p.featureState(features.WebhookServer)
	if err != nil || !foreign || is == listed {
		return "", err
	}
	all, err := p.After().Config()
	if err != nil {
		return "", err
	}
	for _, folder := range all.ListedBy(features.Of(features.WebhookServer).Folder()) {
		if folder != codebase.DeployedFolder && (is == absent || slices.Contains(all.Parts(folder), codebase.DeployedFolder)) {
			return all.File(folder) + ": the webhooks are deployed from here", nil
		}
	}
	return "", nil
}

// deploysWithoutCertManager reports whether kubebuilder's lines deploy webhooks while cert-manager is commented, or no
// provider has files. Then something else supplies the certificate.
func (p *planner) deploysWithoutCertManager() (bool, error) {
	if p.Recording() {
		return false, nil
	}
	is, _, foreign, err := p.featureState(features.CertManager)
	if err != nil || is == listed {
		return false, err
	}
	if have, err := p.issuersThere(); err != nil || !foreign && len(have) > 0 {
		return false, err
	}
	on, _, err := p.state(features.Of(features.WebhookServer).Lines()[0])
	return on == listed, err
}

// certificateIssuers returns the providers that the project has files of. The default is selfcert, which works on
// every cluster, or certmanager for a manager of another tool, which does not start without a certificate.
func (p *planner) certificateIssuers() ([]features.Name, error) {
	if have, err := p.issuersThere(); err != nil || len(have) > 0 {
		return have, err
	}
	startsWithout, err := p.Exists(manager.FlagsFile)
	switch {
	case err != nil:
		return nil, err
	case startsWithout:
		return []features.Name{features.SelfCert}, nil
	default:
		return []features.Name{features.CertManager}, nil
	}
}

func (p *planner) issuersThere() (have []features.Name, err error) {
	for _, provider := range []features.Name{features.SelfCert, features.CertManager} {
		if there, err := p.Exists(p.component(provider)); err != nil {
			return nil, err
		} else if there {
			have = append(have, provider)
		}
	}
	return have, nil
}

// noteIssuer reports that cert-manager, in kubebuilder's form, stays on without webhooks.
func (p *planner) noteIssuer(off []features.Name) error {
	is, _, foreign, err := p.featureState(features.CertManager)
	if err != nil || !foreign || is != listed || !slices.Contains(off, features.WebhookServer) || slices.Contains(off, features.CertManager) {
		return err
	}
	return p.Keep(p.component(features.CertManager), "cert-manager still issues certificates; slipway edit --disable certmanager switches it off")
}
