package deletion

import (
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/newapi"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projectfile"
	"github.com/slipway-dev/slipway/project"
)

// Controller plans the undoing of what created one more controller of a kind, that of
// d's name, in the project in a folder; see [API].
func Controller(folder *fileview.Folder, d Options) (*plan.Plan, error) {
	p, file, err := d.open(folder)
	if err != nil {
		return nil, err
	}
	r := file.Lookup(d.Group, d.Version, d.Kind)
	if r == nil {
		p.NothingToDo(d.absent(file, project.Resource{Group: d.Group, Version: d.Version, Kind: d.Kind, Domain: file.Domain}))
		return p, nil
	}
	called := func(c project.Controller) bool { return c.Name == d.ControllerName }
	gone := *r
	if !slices.ContainsFunc(r.Controllers, called) {
		if !left(p, file.NamedControllerFile(*r, d.ControllerName)) {
			p.NothingToDo(d.withoutController(*r))
			return p, nil
		}
		gone.Controllers = append(slices.Clone(r.Controllers), project.Controller{Name: d.ControllerName})
	}
	part := &plan.Needs{}
	if err := newapi.RecordController(p.Record(part), copyOf(file), gone, d.ControllerName); err != nil {
		return nil, err
	}
	r.Controllers = slices.DeleteFunc(slices.Clone(r.Controllers), called)
	if r.API == nil && !r.Controller && len(r.Controllers) == 0 && r.Webhooks == nil {
		file.Resources = slices.DeleteFunc(file.Resources, func(o project.Resource) bool { return sameKind(o, gone) })
	}
	if err := undoRest(p, file, d, part); err != nil {
		return nil, err
	}
	if err := projectfile.Write(p, file); err != nil {
		return nil, err
	}
	return p, p.Finish()
}

// withoutController says that the kind has no such controller, and which it has.
func (o Options) withoutController(r project.Resource) string {
	var names []string
	for _, c := range r.Controllers {
		names = append(names, c.Name)
	}
	has := "it has only the default one"
	if len(names) > 0 {
		has = "it has " + strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s has no additional controller %s; %s", r.Kind, o.ControllerName, has)
}
