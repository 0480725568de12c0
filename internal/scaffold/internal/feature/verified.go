package feature

import (
	"errors"
	"slices"

	"github.com/slipway-dev/slipway/internal/features"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/manager"
)

// noteUnverified reports that Prometheus does not verify the server of the metrics of another tool's manager, as in
// kubebuilder's ServiceMonitor.
func (p *planner) noteUnverified() error {
	if p.Recording() {
		return nil
	}
	own, err := p.Exists(manager.FlagsFile)
	if err == nil && !own {
		p.Leave("config/prometheus/monitor.yaml: Prometheus does not verify the certificate of the metrics, which is self-signed (insecureSkipVerify); once an authority issues it, set ca and serverName there")
	}
	return err
}

// withNeeds returns features with all that they need and that is off. A manager of another tool gets only the named
// ones: it may have its own certificates and metrics.
func (p *planner) withNeeds(names []features.Name) ([]features.Name, error) {
	if own, err := p.Exists(manager.FlagsFile); err != nil || !own {
		return names, err
	}
	all := slices.Clone(names)
	for i := 0; i < len(all); i++ { // all grows
		row := features.Of(all[i])
		is, _, kubebuilders, err := p.featureState(row.Name)
		if err != nil {
			return nil, err
		}
		if is == listed || kubebuilders {
			continue // it has what it needs, or enableForeign gives it that
		}
		needs, err := p.needsOf(row)
		if err != nil {
			return nil, err
		}
		for _, needed := range needs {
			missing, err := p.missing(needed, all)
			if err != nil {
				return nil, err
			}
			all = append(all, missing...)
		}
	}
	return all, nil
}

// needsOf returns what a feature needs in this project, which may have the Service of the metrics in files of its own.
func (p *planner) needsOf(row features.Feature) ([]features.Name, error) {
	needs := slices.Concat(row.Needs, row.ComponentNeeds)
	if there, err := p.Exists(p.component(features.Metrics)); err != nil || there || !row.MetricsService {
		return needs, err
	}
	err := p.requireNamedMetrics(row.Name)
	if refusal, ok := errors.AsType[*report.Error](err); ok && refusal.Next != "" {
		return needs, nil // there is no Service, and the feature metrics adds it
	}
	return slices.DeleteFunc(needs, func(f features.Name) bool { return f == features.Metrics }), err
}

// missing returns what to enable for a needed feature: nothing if it is on or among those to enable. One certificate
// issuer is as good as another.
func (p *planner) missing(needed features.Name, among []features.Name) ([]features.Name, error) {
	issues := func(f features.Name) bool { return features.Of(f).IssuesCertificates() }
	switch {
	case slices.Contains(among, needed), issues(needed) && slices.ContainsFunc(among, issues):
		return nil, nil
	case issues(needed):
		return p.missingIssuers()
	}
	if on, err := p.on(needed); err != nil || on {
		return nil, err
	}
	return []features.Name{needed}, nil
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
