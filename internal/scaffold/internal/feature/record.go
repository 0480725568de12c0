package feature

import (
	"bytes"

	"github.com/slipway-dev/slipway/internal/features"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/project"
)

// Record repeats the planning of the project's features with a plan that records. Features that exist only for webhooks
// and certificates count only where something other than scaffolded webhooks needs them.
func Record(p *plan.Plan, file *project.Project) error {
	f := &planner{Plan: p, project: file}
	for _, row := range features.Table() {
		if row.ServesWebhooks || row.IssuesCertificates() {
			continue
		}
		if there, err := f.anyOf(f.foundBy(row)); err != nil {
			return err
		} else if !there {
			continue
		}
		if err := f.enable(row.Name); err != nil {
			return err
		}
	}
	if err := f.recordByHand(); err != nil {
		return err
	}
	return f.recordCertificates()
}

// Retire comments out the lines that deploy webhooks, as kubebuilder has them in a project without webhooks. The lines
// of certificates name kinds, so it takes the project as it was before its last webhooks went.
func Retire(on *plan.Plan, before *project.Project) error {
	p := &planner{Plan: on, project: before}
	for _, f := range []features.Name{features.CertManager, features.WebhookServer} {
		if foreign, err := p.inKubebuilderForm(f); err != nil {
			return err
		} else if !foreign || f == features.CertManager && p.certifiesMetrics() {
			continue
		}
		if err := p.disable(f); err != nil {
			return err
		}
	}
	tests, err := p.Find(endToEndTest)
	if err == nil && bytes.Contains(tests.After(), []byte("webhookconfigurations")) {
		return p.Keep(endToEndTest, "it waits for webhooks that the project no longer has: remove that by hand")
	}
	return err
}

// certifiesMetrics reports whether kubebuilder's lines have cert-manager issue a certificate for the metrics.
func (p *planner) certifiesMetrics() bool {
	config, err := p.Find(p.defaultConfig())
	return err == nil && bytes.Contains(config.After(), []byte("\n- path: cert_metrics"))
}

// endToEndTest is kubebuilder's file of tests, some of which look at deployed webhooks.
const endToEndTest = "test/e2e/e2e_test.go"

// foundBy returns the files of which one shows that a feature was enabled at some time.
func (p *planner) foundBy(row features.Feature) []string {
	if row.Deployed() {
		return []string{p.component(row.Name)}
	}
	return p.parts(row.Name).files
}

// recordCertificates records what issues the metrics' certificate.
func (p *planner) recordCertificates() error {
	if there, err := p.Exists(p.component(features.MetricsTLS)); err != nil || !there && !p.certifiesMetrics() {
		return err
	}
	return p.recordIssuers()
}

// recordIssuers records the certificate providers that the project has files of.
func (p *planner) recordIssuers() error {
	for _, feature := range []features.Name{features.CertManager, features.SelfCert} {
		if there, err := p.Exists(p.component(feature)); err != nil {
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
