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

// converted are the kinds that are converted by webhook: their hubs.
func (p *planner) converted() []project.Resource {
	var hubs []project.Resource
	for _, r := range p.project.Resources {
		if r.Webhooks != nil && r.Webhooks.Conversion {
			hubs = append(hubs, r)
		}
	}
	return hubs
}

// conversionPatch is the file, in a feature's folder, with what a converted kind needs there.
func (p *planner) conversionPatch(r project.Resource) string {
	return "conversion_" + strings.TrimSuffix(path.Base(p.project.CRDFile(r)), ".yaml") + ".yaml"
}

// planWebhookItems lists what differs from project to project: the configurations that are generated,
// which there are not for conversion alone, and the kinds that are converted.
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

// webhookManifests is the file into which configurations of webhooks are generated.
const webhookManifests = "config/webhook/manifests.yaml"

// admission reports whether configurations are generated: for webhooks that PROJECT knows, or for one that was written
// by hand.
func (p *planner) admission() (bool, error) {
	if slices.ContainsFunc(p.project.Resources, func(r project.Resource) bool {
		return r.Webhooks != nil && (r.Webhooks.Defaulting || r.Webhooks.Validation)
	}) {
		return true, nil
	}
	return WebhooksByHand(p.Plan)
}

// WebhooksByHand reports whether code that was not scaffolded declares a webhook, as those for core types that are
// registered on the server by their path. PROJECT does not know it.
func WebhooksByHand(p *plan.Plan) (bool, error) {
	all, err := p.Code().Webhooks()
	return slices.ContainsFunc(all, func(w codebase.Webhook) bool {
		_, scaffolded := p.Base().File(w.File)
		return !scaffolded
	}), err
}

// recordByHand records what deploys a webhook that was written by hand.
func (p *planner) recordByHand() error {
	if there, err := p.Exists(p.component(features.WebhookServer)); err != nil || !there {
		return err
	}
	if foreign, err := p.foreign(features.WebhookServer); err != nil || foreign {
		return err
	}
	if byHand, err := WebhooksByHand(p.Plan); err != nil || !byHand {
		return err
	}
	p.NeedGenerated(webhookManifests, "")
	if err := p.enable(features.WebhookServer); err != nil {
		return err
	}
	return p.recordKeepers()
}

// planInjection lists the kinds into whose definitions cert-manager puts its authority.
func (p *planner) planInjection() error {
	var of []plan.Piece
	for _, r := range p.converted() {
		of = append(of, piece.Entry{List: "patches", Text: "{path: injection.yaml, target: {kind: CustomResourceDefinition, name: " + r.CRDName() + "}}"})
	}
	return p.Insert(p.component(features.CertManager), plan.These(of...))
}

// planRotationItems lists the kinds into whose definitions the manager puts its authority.
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

// Serve plans what deploys webhooks and a certificate for them: certificates or, when that is "", what there is. A
// feature that was switched off since its files were written stays off. A project that deploys its manager or its
// webhooks in another way goes on to do so, and its place is printed, unless a certificate is asked for.
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
	if err := errors.Join(p.complete(features.WebhookServer), p.listConfigurations()); err != nil {
		return err
	}
	other, err := p.otherFolder(features.CertManager)
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
	providers, err := p.certificateProviders()
	if err != nil {
		return err
	}
	for _, provider := range providers {
		if err := p.complete(provider); err != nil {
			return err
		}
	}
	return nil
}

// listConfigurations lists the configurations of webhooks where another tool made the folder: while there are none they
// are in no list.
func (p *planner) listConfigurations() error {
	foreign, err := p.foreign(features.WebhookServer)
	if err != nil || !foreign {
		return err
	}
	admission, err := p.admission()
	if err != nil || !admission {
		return err
	}
	return p.Insert(p.component(features.WebhookServer), plan.These(piece.Item{List: "resources", Name: path.Base(webhookManifests)}))
}

// serveWith plans what deploys webhooks, with the certificates that a flag asks for.
func (p *planner) serveWith(certificates features.Name) error {
	return runAll([]func() error{
		func() error { return p.requireConfig(features.WebhookServer) },
		p.requireServable,
		func() error { return p.requireNoOther(certificates) },
		func() error { return p.complete(features.WebhookServer) },
		func() error { return p.enable(certificates) },
	})
}

// servedElsewhere is the place from which the project deploys its webhooks, or its manager, in another way than layouts
// do, with the reason; "" if it does not.
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

// listedElsewhere is the kustomization beside config/default that lists the folder of webhooks, as an overlay does,
// with what that means. It is "" where config/default has the line, be it in a comment that waits for it: then the
// other one is for another purpose, unless it builds of config/default and would have the folder twice.
func (p *planner) listedElsewhere() (string, error) {
	is, _, foreign, err := p.of(features.WebhookServer)
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

// deploysWithoutCertManager reports whether a project of another tool deploys webhooks and has cert-manager in
// comments, or no files of a provider: something else gives them their certificate.
func (p *planner) deploysWithoutCertManager() (bool, error) {
	if p.Recording() {
		return false, nil
	}
	is, _, foreign, err := p.of(features.CertManager)
	if err != nil || is == listed {
		return false, err
	}
	if have, err := p.providersThere(); err != nil || !foreign && len(have) > 0 {
		return false, err
	}
	on, _, err := p.state(features.Of(features.WebhookServer).Lines()[0])
	return on == listed, err
}

// certificateProviders are the features for the certificate that the project has files of. A project without any
// gets the operator itself, which works on every cluster; or cert-manager where the operator cannot do it, since
// its manager was made by another tool and does not start without a certificate.
func (p *planner) certificateProviders() ([]features.Name, error) {
	if have, err := p.providersThere(); err != nil || len(have) > 0 {
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

// providersThere are those that the project has files of.
func (p *planner) providersThere() (have []features.Name, err error) {
	for _, provider := range []features.Name{features.SelfCert, features.CertManager} {
		if there, err := p.Exists(p.component(provider)); err != nil {
			return nil, err
		} else if there {
			have = append(have, provider)
		}
	}
	return have, nil
}

// noteIssuer says that cert-manager, which another tool made a part of the project, stays on without webhooks.
func (p *planner) noteIssuer(off []features.Name) error {
	is, _, foreign, err := p.of(features.CertManager)
	if err != nil || !foreign || is != listed || !slices.Contains(off, features.WebhookServer) || slices.Contains(off, features.CertManager) {
		return err
	}
	return p.Keep(p.component(features.CertManager), "cert-manager still issues certificates; slipway edit --disable certmanager switches it off")
}
