package feature

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/manager"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/wiring"
)

// switchVariable is the variable that kubebuilder's managers read before they set up webhooks: false leaves them out.
const switchVariable = "ENABLE_WEBHOOKS"

// refuseServed refuses to switch off what the manager's code needs: its server of webhooks does not start without a
// certificate, unless it loads that at each handshake.
func (p *planner) refuseServed(off []Feature) error {
	for _, f := range off {
		if on, err := p.on(f); err != nil || !on || !f.row().ServesWebhooks {
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
		return &report.Error{
			What: "the manager's code serves webhooks, and does not start without their certificate", Where: place, Hint: hint, Next: p.deletion(),
		}
	}
	return nil
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

// webhooksSetUp is the line at which the manager's code sets up webhooks that need a certificate when it starts, and
// whether it reads the variable by which they are left out. The place is "" without such a line, and where the variable
// is set.
func (p *planner) webhooksSetUp() (place string, switchable bool, err error) {
	if own, err := p.Exists(manager.FlagsFile); err != nil || own || p.Recording() {
		return "", false, err
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
	switchable = bytes.Contains(c.After(), []byte(`"`+switchVariable+`"`))
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
