package feature

import (
	"github.com/slipway-dev/slipway/internal/features"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/manager"
)

// parts are the steps of planning a feature that follow the files of its component.
type parts struct {
	expects func() error   // refuses a project that cannot have the feature; nil accepts all
	items   []func() error // what the component contains about this project, such as its kinds
	lines   func() error   // replaces items in a project of kubebuilder; nil if its lines are enough
	// code plans Go code, its call and its modules. Disabling the feature removes it, unless the user changed it.
	code  []func() error
	files []string // of that code: if none exists there is nothing to remove
}

// parts returns what the feature's row of the table implies, and what is special to the feature.
func (p *planner) parts(f features.Name) parts {
	of := p.rowParts(features.Of(f))
	switch f {
	case features.WebhookServer:
		of.expects, of.lines = p.requireServable, p.planForeignConversion
		of.items = append(of.items, p.planWebhookItems)
	case features.CertManager:
		of.lines = p.planForeignInjection
		of.items = append(of.items, p.planInjection)
	case features.SelfCert:
		of.items = append(of.items, p.planRotationItems)
	case features.Prometheus:
		of.items = append(of.items, p.noteUnverified)
	case features.MetricsTLS:
		of.items = append([]func() error{p.requireOwnManager}, of.items...)
	case features.Alerts:
		of.items = append(of.items, p.planAlertNames)
	case features.EndToEnd:
		of.code = append([]func() error{p.refuseOtherTests}, append(of.code, p.planTestTarget)...)
	case features.Namespaced:
		of.expects = p.requireNamespaced
		of.code, of.files = append(of.code, p.planWatching), p.watchingFiles()
	case features.Tracing:
		of.code = append(of.code, p.planTraced)
	case features.Migration:
		of.expects = p.requireAllNamespaces
		of.code = append(of.code, p.planMigrated)
	}
	return of
}

func (p *planner) rowParts(row features.Feature) (of parts) {
	if len(row.Requires.Flags) > 0 || row.Requires.Option != "" {
		of.items = append(of.items, func() error { return p.requireInManager(row) })
	}
	if row.MetricsService {
		of.items = append(of.items, func() error { return p.requireNamedMetrics(row.Name) })
	}
	if row.Names {
		of.items = append(of.items, p.planNames)
	}
	if len(row.Adds.Files) > 0 {
		of.code = append(of.code, func() error { return p.planCode(row) })
	}
	for _, file := range codeFiles(row.Adds.Files) {
		of.files = append(of.files, file.Path)
	}
	return of
}

func runAll(steps []func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// requireOwnManager refuses a manager of another tool: its certificates have other names and places.
func (p *planner) requireOwnManager() error {
	if p.Recording() {
		return nil
	}
	if own, err := p.Exists(manager.FlagsFile); err != nil || own {
		return err
	}
	return &report.Error{
		Class: report.BadProject,
		What:  "metrics-tls needs a manager of `slipway init`, or kubebuilder's config/certmanager with certificate-metrics.yaml",
		Where: p.commentedCertificate(),
		Hint:  "nothing was changed; in a project of kubebuilder, add the certificate, then uncomment the lines of [METRICS-WITH-CERTS]",
	}
}

// commentedCertificate returns the place of the commented patch that mounts the metrics' certificate.
func (p *planner) commentedCertificate() string {
	_, line, err := p.state(features.Of(features.MetricsTLS).Lines()[0])
	if err != nil || line == 0 {
		return p.defaultConfig() // the refusal is the same
	}
	return at(p.defaultConfig(), line)
}
