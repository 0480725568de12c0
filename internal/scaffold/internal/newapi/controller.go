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

// checkController refuses a second controller that would do the work of the first, and a name that another controller
// has.
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

// controllersOf returns the names of all controllers that PROJECT lists for a kind.
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

// usualController is the default name of a kind's first controller.
func usualController(p *project.Project, r project.Resource) string {
	name := r.SingularName()
	if p.MultiGroup && r.Group != "" {
		name = r.Group + "-" + name
	}
	return strings.ReplaceAll(name, ".", "-")
}

// controllerName is the controller's name in metrics and logs.
func (a *planner) controllerName() string {
	return cmp.Or(a.options.ControllerName, usualController(a.project, a.resource))
}

// controllerTitle is the kind or, for a named controller, its name in Go: NightlyJobs.
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

// mainPart is the file to name in messages about the API.
func (a *planner) mainPart() string {
	if kind.Foreign(a.resource) || a.options.ControllerName != "" {
		return a.controllerFile()
	}
	return a.types
}

// recordsController reports whether PROJECT lists the requested controller.
func (a *planner) recordsController() bool {
	return slices.Contains(controllersOf(a.project, *a.recorded), a.controllerName())
}

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

// firstController reports whether the controller is the first in its package. The first one's file has the package's
// doc comment.
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

// controllerTest is the template of the controller's test. Some kinds of Kubernetes need more than a name to be
// created; their tests begin with an object that does not exist.
func (a *planner) controllerTest() string {
	if a.resource.Core && kind.CoreObjectOf(a.resource) == nil {
		return "api/controller_absent_test.go"
	}
	return a.template("api/controller_test.go")
}

// template replaces a template by its counterpart for APIs that run an image.
func (a *planner) template(name string) string {
	if a.options.Image.Name != "" {
		return strings.Replace(name, "api/", "deployimage/", 1)
	}
	return name
}

// ownSuite returns the suite that the authors wrote. A plan that records has none.
func (a *planner) ownSuite() (plan.Suite, error) {
	if a.Recording() {
		return plan.Suite{}, nil
	}
	return a.OwnSuite(a.project.SuiteTestFile(a.resource))
}

// planSuite plans the suite for the controller's test, unless the authors have one.
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

// putSuite plans a suite that registers the kind's types.
func (a *planner) putSuite(file string) error {
	if err := a.RequireFrom("api/suite_test.go", file, a.data()); err != nil {
		return err
	}
	return a.InsertIfPlaced(file, a.suiteFragments, piece.ByHand(a.suiteFragments(nil)))
}

// findExistingController finds a reconciler for this kind outside of the layout's file. Two reconcilers of one kind
// would undo each other's writes.
func (a *planner) findExistingController() error {
	if there, err := a.Exists(a.controllerFile()); err != nil || there || !a.options.Controller || a.ambiguous() {
		return err
	}
	all, err := a.Code().Controllers()
	for _, c := range all {
		another := controlsAnother(a.Plan, a.project, a.resource, c) != nil
		beside := c.Dir == path.Dir(a.controllerFile()) // one package cannot have a second type of that name
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

// ambiguous reports whether a reconciler of this name may be for a kind of the same name in another group.
func (a *planner) ambiguous() bool {
	return slices.ContainsFunc(a.project.Resources, func(r project.Resource) bool {
		return r.Kind == a.resource.Kind && r.Group != a.resource.Group
	})
}

// makesController reports whether the controller is to be created. If the authors have one, it is not.
func (a *planner) makesController() bool { return a.options.Controller && a.theirs == "" }

func (a *planner) keepExistingController() error {
	if a.theirs == "" {
		return nil
	}
	return a.Keep(a.theirs, "it existed already")
}
