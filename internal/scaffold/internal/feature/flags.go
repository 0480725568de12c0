package feature

import (
	"bytes"
	"fmt"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/manager"
)

// requireProfiles refuses a manager that cannot serve profiles.
func (p *planner) requireProfiles() error {
	return p.requireFlag(PProf, "pprof-bind-address", `var pprofAddress string
flag.StringVar(&pprofAddress, "pprof-bind-address", "0", "address of profiles; 0 turns them off")
PprofBindAddress: pprofAddress, // among ctrl.Options`)
}

// requireServedMetrics refuses a manager that does not take the address of its metrics.
func (p *planner) requireServedMetrics() error {
	if err := p.requireFlag(Metrics, "metrics-bind-address", `var metricsAddress string
flag.StringVar(&metricsAddress, "metrics-bind-address", "0", "address of metrics over HTTPS; 0 turns them off")
`+securely); err != nil || p.Recording() {
		return err
	}
	if secure, err := p.anyFile(option); err != nil || secure {
		return err
	}
	main, err := manager.Find(p.Plan, p.project)
	if err != nil {
		return err
	}
	return &report.Error{
		What: "metrics are for HTTPS with authorization, and the manager serves its metrics to everyone", Where: main.Place(),
		Hint: "nothing was changed; set the option of the manager, and run the command again:\n" + securely,
	}
}

const (
	// option is the field of controller-runtime's options by which metrics are served over HTTPS.
	option   = "SecureServing"
	securely = "Metrics: metricsserver.Options{BindAddress: metricsAddress, " + option + ": true, FilterProvider: filters.WithAuthenticationAndAuthorization}, // among ctrl.Options"
)

// requireFlag refuses a manager without a flag that the feature passes: it would not start. Code is what it needs.
func (p *planner) requireFlag(f Feature, flag, code string) error {
	if p.Recording() {
		return nil
	}
	if known, err := p.knowsFlag(flag); err != nil || known {
		return err
	}
	main, err := manager.Find(p.Plan, p.project)
	if err != nil {
		return err
	}
	return &report.Error{
		What: fmt.Sprintf("%s passes --%s to the manager, and no code of this module has such a flag", f, flag), Where: main.Place(),
		Hint: "nothing was changed; add the flag and the option of the manager, and run the command again:\n" + code,
	}
}

// knowsFlag reports whether the manager has a flag.
func (p *planner) knowsFlag(name string) (bool, error) { return p.anyFile(`"` + name + `"`) }

// anyFile reports whether any Go file of the module has a text after the plan: options may be in a package of their
// own.
func (p *planner) anyFile(text string) (bool, error) { return p.After().Mentions(text) }

// requireArguments refuses a manager whose container has no list of arguments where the feature adds one to it:
// kustomize would fail.
func (p *planner) requireArguments(f Feature) error {
	component, err := p.Find(p.component(f))
	if err != nil || !bytes.Contains(component.After(), []byte("/args/-")) {
		return err
	}
	all, err := p.Code().Deployments()
	if err != nil || len(all) != 1 || all[0].Written == nil || all[0].Container().Args != nil {
		return nil // see requireDeployment
	}
	w := all[0].Written
	return &report.Error{
		What: fmt.Sprintf("%s adds an argument to the manager, and its container has no list of them", f), Where: fmt.Sprintf("%s:%d", w.File, w.ContainerLines[w.Index]),
		Hint: "nothing was changed; add this to the container and run the command again:\nargs: []",
	}
}
