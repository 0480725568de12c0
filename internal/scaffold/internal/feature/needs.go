package feature

import (
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

// foundBy is the file by which a feature is known to have been enabled once.
func (p *planner) foundBy(f Feature) string {
	if f.Deployed() {
		return p.component(f)
	}
	return p.parts(f).codeFile
}

// recordCertificates does so for what keeps the certificate of the metrics.
func (p *planner) recordCertificates() error {
	if there, err := p.Exists(p.component(MetricsTLS)); err != nil || !there {
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
