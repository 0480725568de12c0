package feature

import (
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/manager"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/piece"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/usage"
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
	return p.Put(WebhookServer.component(), plan.These(of...))
}

// webhookMarker is what configurations of webhooks are generated from, into the file after it.
const (
	webhookMarker    = "+kubebuilder:webhook:"
	webhookManifests = "config/webhook/manifests.yaml"
)

// admission reports whether configurations are generated: for webhooks that PROJECT knows, or for one that was written
// by hand.
func (p *planner) admission() (bool, error) {
	if slices.ContainsFunc(p.project.Resources, func(r project.Resource) bool {
		return r.Webhooks != nil && (r.Webhooks.Defaulting || r.Webhooks.Validation)
	}) {
		return true, nil
	}
	return p.webhookByHand()
}

// webhookByHand reports whether code that was not scaffolded declares a webhook, as those for core types that are
// registered on the server by their path. PROJECT does not know it.
func (p *planner) webhookByHand() (bool, error) {
	sources, err := usage.Read(p.Root())
	if err != nil {
		return false, err
	}
	scaffolded := map[string]bool{}
	for name := range p.Base().Files() {
		scaffolded[name] = true
	}
	return sources.Mention(webhookMarker, scaffolded), nil
}

// recordByHand records what deploys a webhook that was written by hand.
func (p *planner) recordByHand() error {
	if there, err := p.Exists(WebhookServer.component()); err != nil || !there {
		return err
	}
	if foreign, err := p.foreign(WebhookServer); err != nil || foreign {
		return err
	}
	if byHand, err := p.webhookByHand(); err != nil || !byHand {
		return err
	}
	p.NeedGenerated(webhookManifests, "")
	if err := p.enable(WebhookServer); err != nil {
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
	return p.Put(CertManager.component(), plan.These(of...))
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
	return p.Put(SelfCert.component(), plan.These(of...))
}

// Serve plans what deploys webhooks and a certificate for them: certificates or, when that is "", what there is. A
// feature that was switched off since its files were written stays off. It is [ErrDeployedOtherwise] in a project that
// has another way to deploy them.
func Serve(on *plan.Plan, file *project.Project, header string, certificates Feature) error {
	p := &planner{Plan: on, project: file, header: header}
	if err := p.requireServable(); err != nil {
		return err
	}
	if other, err := p.deployedElsewhere(WebhookServer); err != nil || other != "" {
		return errors.Join(err, p.keepElsewhere(other, certificates))
	}
	ownCertificates, err := p.deploysWithoutCertManager()
	if err != nil {
		return err
	}
	if err := p.complete(WebhookServer); err != nil {
		return err
	}
	if certificates != "" {
		return p.enableAsked(certificates)
	}
	if other, err := p.other(CertManager); err != nil || other.folder != "" {
		p.leaveCertificate(other)
		return err
	}
	if ownCertificates {
		p.Leave(defaultConfig + ": webhooks are deployed here without cert-manager, which stays in comments; if it issues their certificate: slipway edit --enable certmanager")
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

// keepElsewhere leaves it to a kustomization that deploys the webhooks to go on doing so. A certificate that is asked
// for is switched on.
func (p *planner) keepElsewhere(other string, certificates Feature) error {
	if other == "" {
		return nil
	}
	p.Leave(other + ": the webhooks are deployed from here, so " + defaultConfig + " stays without them; see here that the new ones get the authority of their certificate")
	if certificates != "" {
		if err := p.enableAsked(certificates); err != nil {
			return err
		}
	}
	return p.planForeignConversion()
}

// enableAsked switches on what a flag asks for.
func (p *planner) enableAsked(certificates Feature) error {
	if err := p.requireNoOther(certificates); err != nil {
		return err
	}
	return p.enable(certificates)
}

// deploysWithoutCertManager reports whether a project of another tool deploys webhooks and has cert-manager in
// comments: something else gives them their certificate.
func (p *planner) deploysWithoutCertManager() (bool, error) {
	if p.Recording() {
		return false, nil
	}
	foreign, err := p.foreign(CertManager)
	if err != nil || !foreign {
		return false, err
	}
	config, err := p.Find(defaultConfig)
	if err != nil {
		return false, err
	}
	return listedIn(config.After(), WebhookServer.listed().Name) && !listedIn(config.After(), CertManager.listed().Name), nil
}

// certificateProviders are the features for the certificate that the project has files of. A project without any
// gets the operator itself, which works on every cluster; or cert-manager where the operator cannot do it, since
// its manager was made by another tool and does not start without a certificate.
func (p *planner) certificateProviders() ([]Feature, error) {
	var have []Feature
	for _, provider := range []Feature{SelfCert, CertManager} {
		there, err := p.Exists(provider.component())
		if err != nil {
			return nil, err
		}
		if there {
			have = append(have, provider)
		}
	}
	if len(have) > 0 {
		return have, nil
	}
	startsWithout, err := p.Exists(manager.FlagsFile)
	switch {
	case err != nil:
		return nil, err
	case startsWithout:
		return []Feature{SelfCert}, nil
	default:
		return []Feature{CertManager}, nil
	}
}

// noteIssuer says that cert-manager, which another tool made a part of the project, stays on without webhooks.
func (p *planner) noteIssuer(off []Feature) error {
	foreign, err := p.foreign(CertManager)
	if err != nil || !foreign || !slices.Contains(off, WebhookServer) || slices.Contains(off, CertManager) {
		return err
	}
	config, err := p.Find(defaultConfig)
	if err != nil || !listedIn(config.After(), "../"+string(CertManager)) {
		return err
	}
	return p.Keep(CertManager.component(), "cert-manager still issues certificates; slipway edit --disable certmanager switches it off")
}
