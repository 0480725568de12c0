package scaffold

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/project"
)

// An API says what to add to a project.
type API struct {
	Group, Version, Kind string
	Plural               string // default: by English rules
	Resource             bool   // the Go types, and with them the CRD
	Controller           bool
	Namespaced           bool     // scope of the objects
	ControllerName       string   // of a controller beside the kind's usual one
	SSA                  bool     // typed apply configurations, which the controller uses
	External             External // where the types of another module are
	Image                Image    // what the controller runs; the zero value for a controller without logic
}

// CreateAPI plans an API in the project in folder root. What is there already is
// kept and what is missing is completed.
func CreateAPI(root string, o API) (*Plan, error) {
	a, err := newAPIPlan(root, o)
	if err != nil {
		return nil, err
	}
	if err := a.plan(); err != nil {
		return nil, err
	}
	return a.Plan, nil
}

// CheckAPI refuses what [CreateAPI] would refuse whatever the project's files hold.
func CheckAPI(root string, o API) error {
	_, err := newAPIPlan(root, o)
	return err
}

func newAPIPlan(root string, o API) (*apiPlan, error) {
	file, err := loadProject(root)
	if err != nil {
		return nil, err
	}
	r, err := o.kind(file)
	if err != nil {
		return nil, err
	}
	plan, err := newPlan(root)
	if err != nil {
		return nil, err
	}
	if r.Path == "" {
		if r.Path, err = plan.importPath(file.Repo, file.APIDir(r)); err != nil {
			return nil, err
		}
	}
	a := &apiPlan{Plan: plan, project: file, options: o, resource: r}
	return a, a.check()
}

// Check refuses names that Kubernetes or Go would refuse, without looking at the
// project.
func (o API) Check() error {
	for _, err := range []error{
		project.ValidateGroup(o.Group), project.ValidateVersion(o.Version), project.ValidateKind(o.Kind), project.ValidatePlural(o.Plural),
		project.ValidateController(o.ControllerName),
	} {
		if err != nil {
			return invalidName(err)
		}
	}
	return errors.Join(o.External.check(), o.Image.check())
}

// invalidName names the flag that a mistake in a name came from.
func invalidName(err error) error {
	var fe *project.FieldError
	if !errors.As(err, &fe) {
		return err
	}
	return invalid("--"+fe.Field, err)
}

// An apiPlan is the planning of one API; it is also what templates are filled from.
type apiPlan struct {
	*Plan
	project  *project.Project
	options  API
	resource project.Resource
	recorded *project.Resource // the API as PROJECT has it, or nil
	header   string
}

// check refuses what cannot be planned at all.
func (a *apiPlan) check() error {
	if a.recorded = a.project.Lookup(a.resource.Group, a.resource.Version, a.resource.Kind); a.recorded != nil {
		a.resource.Plural = ""
		if a.recorded.HasOwnPlural() {
			a.resource.Plural = a.recorded.Plural
		}
	} else if err := a.likeOtherVersions(); err != nil {
		return err
	}
	for _, check := range []func() error{a.checkWanted, a.checkGroup, a.checkFiles, a.checkController} {
		if err := check(); err != nil {
			return err
		}
	}
	return a.readHeader()
}

// likeOtherVersions gives a new version of a kind the plural and the scope of the others:
// they are served by one CRD, which has one of each.
func (a *apiPlan) likeOtherVersions() error {
	for _, r := range a.project.Resources {
		if r.API == nil || r.Group != a.resource.Group || r.Kind != a.resource.Kind {
			continue
		}
		if a.options.Plural != "" && a.options.Plural != r.PluralName() {
			return &report.Error{
				What:  fmt.Sprintf("version %s of %s has the plural %s, and all versions of a kind have the same", r.Version, r.Kind, r.PluralName()),
				Where: "--plural " + a.options.Plural, Hint: "leave it out; nothing was changed",
			}
		}
		a.resource.Plural = ""
		if r.HasOwnPlural() {
			a.resource.Plural = r.Plural
		}
		a.options.Namespaced = r.API.Namespaced
		return nil
	}
	return nil
}

// readHeader reads what stands at the top of the project's Go files.
func (a *apiPlan) readHeader() error {
	data, err := os.ReadFile(filepath.Join(a.root, filepath.FromSlash(boilerplateFile)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return unreadable(boilerplateFile, err)
	}
	header, err := checkComment(string(data), boilerplateFile+":1")
	if err != nil && a.needs == nil { // what records what there is writes nothing below it
		return err
	}
	a.header = boilerplate(header)
	return nil
}

// checkWanted refuses to create nothing, and a controller for types that are not there.
func (a *apiPlan) checkWanted() error {
	switch {
	case !a.options.Resource && !a.options.Controller:
		return &report.Error{What: "there is nothing to create", Where: "--resource, --controller", Hint: "one of them, or both"}
	case a.foreign() && a.options.Resource:
		return &report.Error{
			What: fmt.Sprintf("the types of %s %s are not this project's to create", a.resource.APIVersion(), a.resource.Kind), Where: "--resource",
			Hint: "the project can have a controller for them", Next: a.command("--resource=false --controller"),
		}
	case !a.options.Resource && !a.foreign() && (a.recorded == nil || a.recorded.API == nil):
		return &report.Error{
			What: fmt.Sprintf("the project has no %s %s to control", a.resource.APIVersion(), a.resource.Kind), Where: "--resource=false",
			Hint: "create its types too; a kind of another module needs --external-api-path, one of Kubernetes its group, such as core or apps",
			Next: a.command("--resource --controller"),
		}
	}
	return a.options.check(a.resource)
}

// command is the call that creates this API with other flags.
func (a *apiPlan) command(flags string) string {
	return fmt.Sprintf("slipway create api --group %s --version %s --kind %s %s", a.resource.Group, a.resource.Version, a.resource.Kind, flags)
}

// checkGroup refuses a second group in a layout that has folders for one.
func (a *apiPlan) checkGroup() error {
	if a.project.MultiGroup || a.foreign() {
		return nil
	}
	for _, group := range a.project.Groups() {
		if group != a.resource.Group {
			return &report.Error{
				What:  fmt.Sprintf("the project has APIs of the group %q, and its layout has room for one group", group),
				Where: "--group " + a.resource.Group,
				Hint:  "use that group, or lay the project out for several",
				Next:  "slipway edit --multigroup",
			}
		}
	}
	return nil
}

// checkFiles refuses files of the same name that hold something else.
func (a *apiPlan) checkFiles() error {
	for _, f := range []struct {
		wanted     bool
		file, name string
	}{
		{a.options.Resource, a.project.TypesFile(a.resource), a.resource.Kind},
		{a.options.Controller, a.controllerFile(), a.reconciler()},
	} {
		c, err := a.find(f.file)
		if err != nil {
			return err
		}
		if f.wanted && c.exists && !regexp.MustCompile(`(?m)^\s*(type\s+)?`+f.name+`\s+struct\b`).Match(c.before) {
			return &report.Error{
				What:  fmt.Sprintf("the file is there and does not declare the type %s", f.name),
				Where: f.file,
				Hint:  "move it away, or declare the type in it; nothing was changed",
			}
		}
	}
	return nil
}
