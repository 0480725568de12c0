package feature

import (
	"slices"

	"github.com/slipway-dev/slipway/internal/features"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/manager"
)

// planVerification enables what Prometheus needs to verify the server of the metrics: metrics, a certificate provider
// and metrics-tls. For a manager of another tool, the certificate is not verified, as in kubebuilder's ServiceMonitor.
// The plan reports how to change that.
func (p *planner) planVerification() error {
	if p.Recording() {
		return nil // these are features of their own, each with its needs
	}
	known, err := p.Exists(manager.FlagsFile)
	if err != nil {
		return err
	}
	if !known {
		p.Leave("config/prometheus/monitor.yaml: Prometheus does not verify the certificate of the metrics, which is self-signed (insecureSkipVerify); once an authority issues it, set ca and serverName there")
		return nil
	}
	keepers, err := p.missingIssuers()
	if err != nil {
		return err
	}
	for _, f := range slices.Concat([]features.Name{features.Metrics}, keepers, []features.Name{features.MetricsTLS}) {
		if err := p.enableOnce(f); err != nil {
			return err
		}
	}
	return nil
}

// missingIssuers returns the certificate provider to enable; none if one is on.
func (p *planner) missingIssuers() ([]features.Name, error) {
	for _, f := range []features.Name{features.SelfCert, features.CertManager} {
		if on, err := p.on(f); err != nil || on {
			return nil, err
		}
	}
	all, err := p.certificateIssuers()
	if err != nil {
		return nil, err
	}
	return all[:1], nil
}

func (p *planner) enableOnce(f features.Name) error {
	if on, err := p.on(f); err != nil || on {
		return err
	}
	return p.enable(f)
}

// noteLeft reports that metrics-tls, which enabling prometheus switched on, stays on.
func (p *planner) noteLeft(off []features.Name) error {
	if !slices.Contains(off, features.Prometheus) || slices.Contains(off, features.MetricsTLS) {
		return nil
	}
	if is, _, err := p.state(features.Of(features.MetricsTLS).Component()); err != nil || is != listed {
		return err
	}
	return p.Keep(p.component(features.MetricsTLS), "metrics keep their certificate; slipway edit --disable metrics-tls removes it")
}
