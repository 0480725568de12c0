package feature

import (
	"bytes"
	"slices"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/project"
)

// Record runs the planning of features that are not there for webhooks alone, with a
// plan that records what they need.
func Record(p *plan.Plan, file *project.Project) error {
	f := &planner{Plan: p, project: file}
	for _, feature := range All() {
		if there, err := f.Exists(f.foundBy(feature)); err != nil {
			return err
		} else if !there || slices.Contains([]Feature{WebhookServer, CertManager, SelfCert}, feature) {
			continue
		}
		if err := f.enable(feature); err != nil {
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
	for _, f := range []Feature{CertManager, WebhookServer} {
		if foreign, err := p.foreign(f); err != nil {
			return err
		} else if !foreign || f == CertManager && p.certifiesMetrics() {
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

// foundBy is the file by which a feature is known to have been enabled once.
func (p *planner) foundBy(f Feature) string {
	if f.Deployed() {
		return p.component(f)
	}
	return p.parts(f).codeFile
}

// recordCertificates does so for what keeps the certificate of the metrics.
func (p *planner) recordCertificates() error {
	if there, err := p.Exists(p.component(MetricsTLS)); err != nil || !there && !p.certifiesMetrics() {
		return err
	}
	return p.recordKeepers()
}

// recordKeepers does so for what keeps certificates.
func (p *planner) recordKeepers() error {
	for _, feature := range []Feature{CertManager, SelfCert} {
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
