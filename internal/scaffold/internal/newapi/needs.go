package newapi

import (
	"slices"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/header"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/project"
)

// Record repeats the planning of a kind's types and controllers in PROJECT with a plan that records.
func Record(p *plan.Plan, file *project.Project, r project.Resource) error {
	return record(p, file, r, func(Options) bool { return false })
}

// RecordController is [Record] for one named controller.
func RecordController(p *plan.Plan, file *project.Project, r project.Resource, name string) error {
	return record(p, file, r, func(o Options) bool { return o.ControllerName != name })
}

// record repeats the calls of create api that made the kind, except some.
func record(p *plan.Plan, file *project.Project, r project.Resource, except func(Options) bool) error {
	calls, err := callsOf(file, r)
	if err != nil {
		return err
	}
	if !r.HasOwnPlural() {
		r.Plural = ""
	}
	text, err := header.Read(p)
	if err != nil {
		return err
	}
	generation, err := p.Code().Generation()
	if err != nil {
		return err
	}
	another, err := ControlsAnother(p, file, r)
	if err != nil {
		return err
	}
	for _, options := range slices.DeleteFunc(calls, except) {
		if p.NamesOnly() && options.Controller && !onDisk(p, file, r, options) {
			options.Controller = false // its files are elsewhere too
		}
		if another && options.ControllerName == "" {
			options.Controller = false
		}
		a := &planner{Plan: p, project: file, options: options, resource: r, recorded: &r, types: file.TypesFile(r), header: text, versions: p.Code().Versions(), generation: generation}
		for _, step := range append(a.steps(), a.needGenerated) {
			if err := step(); err != nil {
				return err
			}
		}
	}
	return nil
}

// onDisk reports whether the controller has the layout's file.
func onDisk(p *plan.Plan, file *project.Project, r project.Resource, o Options) bool {
	a := &planner{Plan: p, project: file, options: o, resource: r}
	c, err := p.Find(a.controllerFile())
	return err != nil || c.OnDisk()
}

// callsOf returns the calls of create api that make what PROJECT records of a kind: one for its types and first
// controller, one for each named controller.
func callsOf(file *project.Project, r project.Resource) ([]Options, error) {
	first := Options{
		Group: r.Group, Version: r.Version, Kind: r.Kind, Plural: r.Plural,
		Resource: r.API != nil, Namespaced: r.API == nil || r.API.Namespaced,
		Controller: r.Controller, SSA: r.API != nil && r.API.SSA,
	}
	var err error
	if first.Image, err = imageOf(file, r); err != nil {
		return nil, err
	}
	var calls []Options
	if first.Resource || first.Controller {
		calls = append(calls, first)
	}
	for _, c := range r.Controllers {
		more := first
		more.Resource, more.Controller, more.ControllerName, more.SSA, more.Image = false, true, c.Name, false, Image{}
		calls = append(calls, more)
	}
	return calls, nil
}

// needGenerated records the files that are generated from the API's types.
func (a *planner) needGenerated() error {
	if a.options.Resource {
		from := a.types
		for _, file := range a.crdFiles() {
			a.NeedGenerated(file, from)
		}
		a.NeedGenerated(a.project.APIDir(a.resource)+"/zz_generated.deepcopy.go", from)
	}
	return nil
}
