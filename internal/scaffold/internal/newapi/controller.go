package newapi

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/kind"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/piece"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/project"
)

// checkController refuses a second controller that would do the work of the first, and a
// name that another one has.
func (a *planner) checkController() error {
	if !a.options.Controller {
		return nil
	}
	name := a.controllerName()
	for _, r := range a.project.Resources {
		same := r.Group == a.resource.Group && r.Kind == a.resource.Kind
		if r.Controller && same && r.Version != a.resource.Version && a.options.ControllerName == "" {
			return &report.Error{
				What:  fmt.Sprintf("%s already has a controller, for version %s", r.Kind, r.Version),
				Where: "--controller",
				Hint:  "one controller sees the objects of all versions; add --controller-name for another controller",
				Next:  a.command("--resource --controller=false"),
			}
		}
		if same && r.Version == a.resource.Version {
			continue
		}
		if slices.Contains(controllersOf(a.project, r), name) {
			return &report.Error{
				What: fmt.Sprintf("a controller of %s %s already has the name %s", r.APIVersion(), r.Kind, name), Where: "--controller-name",
				Hint: "metrics and logs need different names of controllers; choose another one",
			}
		}
	}
	return nil
}

// controllersOf are the names of all controllers that PROJECT records for a kind.
func controllersOf(p *project.Project, r project.Resource) []string {
	var names []string
	if r.Controller {
		names = append(names, usualController(p, r))
	}
	for _, c := range r.Controllers {
		names = append(names, c.Name)
	}
	return names
}

// usualController is the name of a kind's first controller.
func usualController(p *project.Project, r project.Resource) string {
	name := r.SingularName()
	if p.MultiGroup && r.Group != "" {
		name = r.Group + "-" + name
	}
	return strings.ReplaceAll(name, ".", "-")
}

// controllerName is the name by which metrics and logs call the controller.
func (a *planner) controllerName() string {
	return cmp.Or(a.options.ControllerName, usualController(a.project, a.resource))
}

// controllerTitle is the kind or, for a controller with a name of its own, that name as Go
// has it: NightlyJobs.
func (a *planner) controllerTitle() string {
	if a.options.ControllerName == "" {
		return a.resource.Kind
	}
	var title strings.Builder
	for part := range strings.SplitSeq(a.options.ControllerName, "-") {
		title.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return title.String()
}

// reconciler is the name of the controller's Go type.
func (a *planner) reconciler() string { return a.controllerTitle() + "Reconciler" }

func (a *planner) controllerFile() string {
	if name := a.options.ControllerName; name != "" {
		return a.project.NamedControllerFile(a.resource, name)
	}
	return a.project.ControllerFile(a.resource)
}

func (a *planner) controllerTestFile() string {
	if name := a.options.ControllerName; name != "" {
		return a.project.NamedControllerTestFile(a.resource, name)
	}
	return a.project.ControllerTestFile(a.resource)
}

// mainPart is the file that the API is about.
func (a *planner) mainPart() string {
	if kind.Foreign(a.resource) || a.options.ControllerName != "" {
		return a.controllerFile()
	}
	return a.types
}

// recordsController reports whether PROJECT has the controller that is asked for.
func (a *planner) recordsController() bool {
	return slices.Contains(controllersOf(a.project, *a.recorded), a.controllerName())
}

// recordController has the kind's entry in PROJECT name the controller.
func (a *planner) recordController(r *project.Resource) {
	name := project.Controller{Name: a.options.ControllerName}
	switch {
	case !a.options.Controller:
	case name.Name == "":
		r.Controller = true
	case !slices.Contains(r.Controllers, name):
		r.Controllers = append(r.Controllers, name)
	}
}

// firstController reports whether no controller came before this one in its package,
// whose doc it then carries.
func (a *planner) firstController() bool {
	for _, r := range a.project.Resources {
		same := r.Group == a.resource.Group && r.Version == a.resource.Version && r.Kind == a.resource.Kind
		if same && a.options.ControllerName == "" {
			break
		}
		if len(controllersOf(a.project, r)) > 0 && a.project.ControllerDir(r) == a.project.ControllerDir(a.resource) {
			return same && controllersOf(a.project, r)[0] == a.controllerName()
		}
	}
	return true
}

func (a *planner) planController() error {
	return a.CreateFrom(a.template("api/controller.go"), a.controllerFile(), a.data())
}

// controllerTest is the template of the controller's test: tests of kinds of Kubernetes
// whose objects need more than a name begin with one that is not there.
func (a *planner) controllerTest() string {
	if a.resource.Core && kind.CoreObjectOf(a.resource) == nil {
		return "api/controller_absent_test.go"
	}
	return a.template("api/controller_test.go")
}

// template names the template of a file: APIs that run an image have their own.
func (a *planner) template(name string) string {
	if a.options.Image.Name != "" {
		return strings.Replace(name, "api/", "deployimage/", 1)
	}
	return name
}

// ownSuite is the suite of the controllers that the project's authors wrote in their own way. A plan that records needs
// has none.
func (a *planner) ownSuite() (plan.Suite, error) {
	if a.Recording() {
		return plan.Suite{}, nil
	}
	return a.OwnSuite(a.project.SuiteTestFile(a.resource))
}

// planSuite plans the suite in which the tests of controllers run, beside the one that the authors wrote, if any.
func (a *planner) planSuite(own plan.Suite) error {
	if a.testedOtherwise() {
		return nil
	}
	file := a.project.SuiteTestFile(a.resource)
	if own.File == "" || own.File == file {
		if err := a.putSuite(file); err != nil {
			return err
		}
	}
	if own.File == "" {
		return nil
	}
	return a.Keep(own.File, own.Why+"; add a test for "+a.controllerTitle()+" in its style")
}

// putSuite plans a suite that knows the types.
func (a *planner) putSuite(file string) error {
	if err := a.RequireFrom("api/suite_test.go", file, a.data()); err != nil {
		return err
	}
	return a.InsertIfPlaced(file, a.suiteFragments, piece.ByHand(a.suiteFragments(nil)))
}

// findExistingController looks for a controller of the kind that its authors have elsewhere than in the layout's file:
// a second one would do its work again.
func (a *planner) findExistingController() error {
	if there, err := a.Exists(a.controllerFile()); err != nil || there || !a.options.Controller || a.ambiguous() {
		return err
	}
	all, err := a.Code().Controllers()
	for _, c := range all {
		another := controlsAnother(a.Plan, a.project, a.resource, c) != nil
		beside := c.Dir == path.Dir(a.controllerFile()) // in the same package there is no second one of that name
		switch {
		case c.Type != a.reconciler() || another && !beside:
		case beside:
			a.theirs = c.File
			return a.refuseAnother(c)
		case a.theirs == "":
			a.theirs = c.File
		}
	}
	return err
}

// ambiguous reports whether a reconciler of this name may be that of another kind, of the same name in another group.
func (a *planner) ambiguous() bool {
	return slices.ContainsFunc(a.project.Resources, func(r project.Resource) bool {
		return r.Kind == a.resource.Kind && r.Group != a.resource.Group
	})
}

// makesController reports whether the controller that is asked for is to be made, and not there as its authors have it.
func (a *planner) makesController() bool { return a.options.Controller && a.theirs == "" }

// keepExistingController says that the controller stays as its authors have it.
func (a *planner) keepExistingController() error {
	if a.theirs == "" {
		return nil
	}
	return a.Keep(a.theirs, "it existed already")
}
