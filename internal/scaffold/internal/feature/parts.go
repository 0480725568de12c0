package feature

import (
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/manager"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/undo"
)

// parts are what a feature has besides the files of its component. All of them are planned when it is switched on.
type parts struct {
	// items are what its component says about this project, such as about its kinds.
	items []func() error
	// code is Go code, what calls it, and its modules. It goes when the feature is switched off, unless it was changed.
	code []func() error
	// codeFile is a file of that code: without it there is nothing to take out.
	codeFile string
}

// parts are those of a feature.
func (p *planner) parts(f Feature) parts {
	switch f {
	case Metrics:
		return parts{items: []func() error{p.requireServedMetrics}}
	case WebhookServer:
		return parts{items: []func() error{p.planWebhookItems}}
	case CertManager:
		return parts{items: []func() error{p.planNames, p.planInjection}}
	case SelfCert:
		return parts{items: []func() error{p.planRotationItems}, code: []func() error{p.planRotation}, codeFile: rotationFile}
	case Prometheus:
		return parts{items: []func() error{p.requireNamedMetrics(f), p.planVerification}}
	case MetricsTLS:
		return parts{items: []func() error{p.requireOwnManager, p.planNames}}
	case Alerts:
		return parts{items: []func() error{p.requireNamedMetrics(f), p.planNames, p.planAlertNames}, code: []func() error{p.planRunbooks}, codeFile: runbooks + "/ManagerAbsent.md"}
	case Tracing:
		return parts{code: []func() error{p.planTracing}, codeFile: tracingFile}
	case EndToEnd:
		return parts{code: []func() error{p.planEndToEnd}, codeFile: endToEnd + "/main_test.go"}
	case Workflow:
		return parts{code: []func() error{p.planWorkflow}, codeFile: workflow}
	case Namespaced:
		return parts{code: []func() error{p.planWatching}, codeFile: p.watchingFile()}
	case PProf:
		return parts{items: []func() error{p.requireProfiles}}
	}
	return parts{}
}

func runAll(steps []func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// withoutCode takes a feature's code out again, as undoing does: without the feature's configuration it
// does nothing. What was changed stays.
func (p *planner) withoutCode(f Feature) error {
	of := p.parts(f)
	if p.Recording() || of.codeFile == "" {
		return nil
	}
	if there, err := p.Exists(of.codeFile); err != nil || !there {
		return err
	}
	part := &plan.Needs{}
	recording := &planner{Plan: p.Record(part), project: p.project, header: p.header}
	if err := runAll(recording.parts(f).code); err != nil {
		return err
	}
	return undo.Part(p.Plan, part, &plan.Needs{}, false, "delete it if no file needs it")
}

// requireOwnManager refuses a manager of another tool: its certificates are elsewhere and called otherwise.
func (p *planner) requireOwnManager() error {
	if p.Recording() {
		return nil
	}
	if own, err := p.Exists(manager.FlagsFile); err != nil || own {
		return err
	}
	return &report.Error{
		What:  "metrics-tls needs a manager of `slipway init`, or kubebuilder's config/certmanager with certificate-metrics.yaml",
		Where: p.commentedCertificate(),
		Hint:  "nothing was changed; in a project of kubebuilder, add the certificate, then uncomment the lines of [METRICS-WITH-CERTS]",
	}
}

// commentedCertificate is the place of the patch that mounts the metrics' certificate.
func (p *planner) commentedCertificate() string {
	_, line, err := p.state(MetricsTLS.row().Lines()[0])
	if err != nil || line == 0 {
		return p.defaultConfig() // the refusal is the same
	}
	return at(p.defaultConfig(), line)
}
