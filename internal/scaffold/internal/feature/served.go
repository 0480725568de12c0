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

// switchVariable is the variable that kubebuilder's managers read before they set up webhooks: false leaves them out.
const switchVariable = "ENABLE_WEBHOOKS"

// refuseServed refuses to switch off what the manager's code needs: kubebuilder's server of webhooks does not start
// without a certificate. Slipway's starts, but is not ready, and the API server cannot call it. The features to switch
// off are some of all that would be.
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
		return &report.Error{What: what, Where: place, Hint: hint, Next: p.deletion()}
	}
	return nil
}

// neededOf lists those of the features to switch off that a component consists of or needs.
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

// deletion is the command that deletes the project's first webhooks, or the page of that command.
func (p *planner) deletion() string {
	for _, r := range p.project.Resources {
		if r.Webhooks != nil {
			return fmt.Sprintf("slipway delete webhook --group %s --version %s --kind %s", r.Group, r.Version, r.Kind)
		}
	}
	return "slipway delete webhook --help"
}

// webhooksSetUp is the line at which the manager's code sets up webhooks, and whether it reads the variable by which
// they are left out. The place is "" without such a line, and where the variable is set.
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

// at is a line of a file, or "" without one.
func at(file string, line int) string {
	if line == 0 {
		return ""
	}
	return fmt.Sprintf("%s:%d", file, line)
}
