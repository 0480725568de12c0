package feature

import (
	"slices"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/manager"
)

// planVerification switches on what Prometheus needs to verify whose metrics it collects: the metrics, a certificate,
// and metrics that are served with it. Where a manager that another tool made has no flag for the certificate, it is
// not verified, as in kubebuilder's ServiceMonitor, and that is left to the user.
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
	keepers, err := p.keepers()
	if err != nil {
		return err
	}
	for _, f := range slices.Concat([]Feature{Metrics}, keepers, []Feature{MetricsTLS}) {
		if err := p.enableOnce(f); err != nil {
			return err
		}
	}
	return nil
}

// keepers are the features to switch on for a certificate: none where one is on.
func (p *planner) keepers() ([]Feature, error) {
	for _, f := range []Feature{SelfCert, CertManager} {
		if on, err := p.on(f); err != nil || on {
			return nil, err
		}
	}
	all, err := p.certificateProviders()
	if err != nil {
		return nil, err
	}
	return all[:1], nil
}

// enableOnce switches a feature on that is off.
func (p *planner) enableOnce(f Feature) error {
	if on, err := p.on(f); err != nil || on {
		return err
	}
	return p.enable(f)
}

// noteLeft says what prometheus brought along and stays on without it.
func (p *planner) noteLeft(off []Feature) error {
	if !slices.Contains(off, Prometheus) || slices.Contains(off, MetricsTLS) {
		return nil
	}
	if is, _, err := p.state(MetricsTLS.row().Component()); err != nil || is != listed {
		return err
	}
	return p.Keep(p.component(MetricsTLS), "metrics keep their certificate; slipway edit --disable metrics-tls removes it")
}
