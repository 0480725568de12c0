package feature

import (
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/features"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/manager"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/wiring"
)

// switchVariable is the variable that kubebuilder's main.go reads: "false" leaves out the webhooks.
const switchVariable = "ENABLE_WEBHOOKS"

// refuseServed refuses to disable what the manager's code needs to serve webhooks. Kubebuilder's webhook server does
// not start without a certificate; slipway's starts, but is never ready. The user asked for off; all adds the features
// that need one of these.
func (p *planner) refuseServed(off, all []features.Name) error {
	for _, f := range all {
		if on, err := p.on(f); err != nil || !on || !features.Of(f).ServesWebhooks {
			if err != nil {
				return err
			}
			continue
		}
		place, switchable, err := p.webhooksSetUp()
		if err != nil || place == "" {
			return err
		}
		hint := "nothing was changed; delete the webhooks first: slipway delete webhook takes out their code"
		if switchable {
			hint = fmt.Sprintf("nothing was changed; set %s to \"false\" among the variables of the manager's container, which leaves webhooks out, and run the command again; or delete the webhooks first", switchVariable)
		}
		what := "the manager's code serves webhooks, and does not start without their certificate"
		if own, err := p.Exists(manager.FlagsFile); err != nil {
			return err
		} else if own {
			what = "the manager's code serves webhooks, which the API server cannot call without " + neededOf(f, off)
			hint += "; slipway edit --certs changes who issues the certificate"
		}
		return &report.Error{Class: report.BadProject, What: what, Where: place, Hint: hint, Next: p.deletion()}
	}
	return nil
}

// neededOf lists the features of off that the component needs, or that it is.
func neededOf(f features.Name, off []features.Name) string {
	var names []string
	for _, g := range off {
		if g == f || slices.Contains(features.Of(f).ComponentNeeds, g) {
			names = append(names, string(g))
		}
	}
	if len(names) == 1 {
		return "the feature " + names[0]
	}
	return "the features " + strings.Join(names, " and ")
}

// deletion is the command that deletes the webhooks of the first kind that has some.
func (p *planner) deletion() string {
	for _, r := range p.project.Resources {
		if r.Webhooks != nil {
			return fmt.Sprintf("slipway delete webhook --group %s --version %s --kind %s", r.Group, r.Version, r.Kind)
		}
	}
	return "slipway delete webhook --help"
}

// webhooksSetUp returns the line that sets up webhooks, and whether the code reads [switchVariable]. The place is "" if
// no line does, or if every manager sets the variable to "false".
func (p *planner) webhooksSetUp() (place string, switchable bool, err error) {
	if p.Recording() {
		return "", false, nil
	}
	main, err := manager.FindForWebhooks(p.Plan, p.project)
	if err != nil || main.File == "" {
		return "", false, err
	}
	c, err := p.Find(main.File)
	if err != nil {
		return "", false, err
	}
	line := wiring.WebhookLine(c.After())
	switchable = codebase.ReadsVariable(c.After(), switchVariable)
	if line == 0 || !switchable {
		return at(main.File, line), false, nil
	}
	all, err := p.Code().Deployments()
	if err != nil {
		return "", true, err
	}
	set := func(v codebase.Variable) bool { return v.Name == switchVariable && v.Value == "false" }
	if len(all) > 0 && !slices.ContainsFunc(all, func(d codebase.Deployment) bool { return !slices.ContainsFunc(d.Container().Env, set) }) {
		return "", true, nil
	}
	return at(main.File, line), true, nil
}

func at(file string, line int) string {
	if line == 0 {
		return ""
	}
	return fmt.Sprintf("%s:%d", file, line)
}
