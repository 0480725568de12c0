package feature

import (
	"bytes"
	"fmt"

	"github.com/slipway-dev/slipway/internal/report"
)

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
