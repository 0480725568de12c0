package feature

import (
	"bytes"

	"github.com/slipway-dev/slipway/internal/features"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/project"
)

// Record runs the planning of features that are not there for webhooks alone, with a
// plan that records what they need.
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

// Retire puts the lines that deploy webhooks into comments, as another tool has them in a project without webhooks.
// Those of certificates name kinds of the project as it is before its last webhooks go.
func Retire(on *plan.Plan, before *project.Project) error {
	p := &planner{Plan: on, project: before}
	for _, f := range []features.Name{features.CertManager, features.WebhookServer} {
		if foreign, err := p.foreign(f); err != nil {
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

// certifiesMetrics reports whether another tool's lines have cert-manager issue a certificate of the metrics, too.
func (p *planner) certifiesMetrics() bool {
	config, err := p.Find(p.defaultConfig())
	return err == nil && bytes.Contains(config.After(), []byte("\n- path: cert_metrics"))
}

// endToEndTest is where another tool has the tests that look at the deployed webhooks.
const endToEndTest = "test/e2e/e2e_test.go"

// foundBy are the files by one of which a feature is known to have been enabled once.
func (p *planner) foundBy(row features.Feature) []string {
	if row.Deployed() {
		return []string{p.component(row.Name)}
	}
	return p.parts(row.Name).files
}

// recordCertificates does so for what keeps the certificate of the metrics.
func (p *planner) recordCertificates() error {
	if there, err := p.Exists(p.component(features.MetricsTLS)); err != nil || !there && !p.certifiesMetrics() {
		return err
	}
	return p.recordKeepers()
}

// recordKeepers does so for what keeps certificates.
func (p *planner) recordKeepers() error {
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
