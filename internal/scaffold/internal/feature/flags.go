package feature

import (
	"bytes"
	"fmt"

	"github.com/slipway-dev/slipway/internal/features"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/manager"
)

// requireInManager refuses a manager whose code lacks what the feature needs: it would not start, or serve its metrics
// to everyone.
func (p *planner) requireInManager(row features.Feature) error {
	if p.Recording() {
		return nil
	}
	refusal, err := p.missingInManager(row)
	if err != nil || refusal == nil {
		return err
	}
	main, err := manager.Find(p.Plan, p.project)
	if err != nil {
		return err
	}
	refusal.Where = main.Place()
	return refusal
}

// missingInManager returns nil if the manager's code has all flags and options that the feature needs.
func (p *planner) missingInManager(row features.Feature) (*report.Error, error) {
	for _, flag := range row.Requires.Flags {
		if known, err := p.After().HasFlag(flag.Name); err != nil {
			return nil, err
		} else if !known {
			return &report.Error{
				Class: report.BadProject,
				What:  fmt.Sprintf("%s passes --%s to the manager, and no code of this module has such a flag", row.Name, flag.Name),
				Hint:  "nothing was changed; add the flag and the option of the manager, and run the command again:\n" + flag.Code,
			}, nil
		}
	}
	option := row.Requires.Option
	if option == "" {
		return nil, nil
	}
	if set, err := p.After().SetsField(option); err != nil || set {
		return nil, err
	}
	return &report.Error{Class: report.BadProject, What: row.Requires.WithoutOption, Hint: "nothing was changed; set the option of the manager, and run the command again:\n" + row.Requires.OptionCode}, nil
}

// requireArguments refuses a manager whose container has no list of arguments if the component appends to it: kustomize
// would fail.
func (p *planner) requireArguments(f features.Name) error {
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
		Class: report.BadProject,
		What:  fmt.Sprintf("%s adds an argument to the manager, and its container has no list of them", f), Where: fmt.Sprintf("%s:%d", w.File, w.ContainerLines[w.Index]),
		Hint: "nothing was changed; add this to the container and run the command again:\nargs: []",
	}
}
