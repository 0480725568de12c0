package scaffold

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/project"
)

// An API says what to add to a project.
type API struct {
	Group, Version, Kind string
	Plural               string // default: by English rules
	Resource             bool   // the Go types, and with them the CRD
	Controller           bool
	Namespaced           bool // scope of the objects
}

// CreateAPI plans an API in the project in folder root. What is there already is
// kept and what is missing is completed; when nothing is missing, the error is
// [ErrExists].
func CreateAPI(root string, o API) (*Plan, error) {
	file, err := loadProject(root)
	if err != nil {
		return nil, err
	}
	r := project.Resource{Group: o.Group, Version: o.Version, Kind: o.Kind, Plural: o.Plural, Domain: file.Domain}
	if err := CheckNames(r); err != nil {
		return nil, err
	}
	if !r.HasOwnPlural() {
		r.Plural = ""
	}
	plan, err := newPlan(root)
	if err != nil {
		return nil, err
	}
	a := &apiPlan{Plan: plan, project: file, options: o, resource: r}
	if err := a.check(); err != nil {
		return nil, err
	}
	if err := a.plan(); err != nil {
		return nil, err
	}
	return plan, nil
}

// ErrExists says that an API has everything that was asked for already.
var ErrExists = errors.New("nothing was changed")

// loadProject reads the PROJECT file and refuses layouts that are not known.
func loadProject(root string) (*project.Project, error) {
	file, err := project.Load(root)
	var fe *project.FieldError
	if errors.As(err, &fe) {
		pos := report.Position{File: project.FileName, Line: fe.Line, Column: fe.Column}
		return nil, &report.Error{What: fe.Summary(), Where: pos.String(), Hint: "expected " + orElse(fe.Expected, "a project description")}
	}
	if err != nil {
		return nil, err
	}
	if file.Version != project.Version {
		return nil, &report.Error{
			What: "the project has the layout of version " + file.Version, Where: project.FileName,
			Hint: `APIs can be added to projects of version "3"`,
		}
	}
	if file.Repo == "" {
		return nil, &report.Error{What: "repo is missing", Where: project.FileName, Hint: "expected a line such as `repo: example.com/my-operator`, the module path of go.mod"}
	}
	if !slices.ContainsFunc(file.Layout, func(l string) bool { return strings.HasPrefix(l, project.Layout) }) {
		return nil, &report.Error{
			What: "the layout " + strings.Join(file.Layout, ", ") + " is not one that APIs can be added to", Where: project.FileName,
			Hint: "expected `layout: " + project.Layout + "`",
		}
	}
	return file, nil
}

// CheckNames refuses names that Kubernetes or Go would refuse, and names the flag
// that a name came from.
func CheckNames(r project.Resource) error {
	err := r.Validate()
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
	a.recorded = a.project.Lookup(a.resource.Group, a.resource.Version, a.resource.Kind)
	for _, check := range []func() error{a.checkWanted, a.checkGroup, a.checkController, a.checkFiles} {
		if err := check(); err != nil {
			return err
		}
	}
	data, err := os.ReadFile(filepath.Join(a.root, filepath.FromSlash(boilerplateFile)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read license header: %w", err)
	}
	a.header = boilerplate(string(data))
	return nil
}

// checkWanted refuses to create nothing, and a controller for types that are not there.
func (a *apiPlan) checkWanted() error {
	switch {
	case !a.options.Resource && !a.options.Controller:
		return &report.Error{What: "there is nothing to create", Where: "--resource, --controller", Hint: "one of them, or both"}
	case !a.options.Resource && (a.recorded == nil || a.recorded.API == nil):
		return &report.Error{
			What: fmt.Sprintf("the project has no %s %s to control", a.resource.APIVersion(), a.resource.Kind), Where: "--resource=false",
			Hint: "create its types too",
			Next: a.command("--resource --controller"),
		}
	}
	return nil
}

// command is the call that creates this API with other flags.
func (a *apiPlan) command(flags string) string {
	return fmt.Sprintf("slipway create api --group %s --version %s --kind %s %s", a.resource.Group, a.resource.Version, a.resource.Kind, flags)
}

// checkGroup refuses a second group in a layout that has folders for one.
func (a *apiPlan) checkGroup() error {
	if a.project.MultiGroup {
		return nil
	}
	for _, group := range a.project.Groups() {
		if group != a.resource.Group {
			return &report.Error{
				What:  fmt.Sprintf("the project has APIs of the group %q, and its layout has room for one group", group),
				Where: "--group " + a.resource.Group,
				Hint:  "use that group; a project for several groups is made with `slipway init --multigroup`",
			}
		}
	}
	return nil
}

// checkController refuses a second controller of the same kind.
func (a *apiPlan) checkController() error {
	if !a.options.Controller {
		return nil
	}
	for _, r := range a.project.Resources {
		if r.Controller && r.Group == a.resource.Group && r.Kind == a.resource.Kind && r.Version != a.resource.Version {
			return &report.Error{
				What:  fmt.Sprintf("%s has a controller already, for version %s", r.Kind, r.Version),
				Where: "--controller",
				Hint:  "one controller sees the objects of all versions",
				Next:  a.command("--resource --controller=false"),
			}
		}
	}
	return nil
}

// checkFiles refuses files of the same name that hold something else.
func (a *apiPlan) checkFiles() error {
	types := map[string]string{}
	if a.options.Resource {
		types[a.project.TypesFile(a.resource)] = a.resource.Kind
	}
	if a.options.Controller {
		types[a.project.ControllerFile(a.resource)] = a.resource.Kind + "Reconciler"
	}
	for file, name := range types {
		c, err := a.find(file)
		if err != nil {
			return err
		}
		if c.exists && !regexp.MustCompile(`(?m)^\s*(type\s+)?`+name+`\s+struct\b`).Match(c.before) {
			return &report.Error{
				What:  fmt.Sprintf("the file is there and does not declare the type %s", name),
				Where: file,
				Hint:  "move it away, or declare the type in it; nothing was changed",
			}
		}
	}
	return nil
}

// plan plans every file. PROJECT comes last: what it records is there.
func (a *apiPlan) plan() error {
	complete, err := a.complete()
	if err != nil {
		return err
	}
	steps := []func() error{}
	if a.options.Resource {
		steps = append(steps, a.planTypes, a.planStorageVersion, a.planConfig)
	}
	if a.options.Controller {
		steps = append(steps, a.planController, a.planSuite)
	}
	for _, step := range append(steps, a.planMain, a.planProject) {
		if err := step(); err != nil {
			return err
		}
	}
	if complete && (len(a.refused) > 0 || a.Empty()) {
		return a.exists()
	}
	return a.finish()
}

// complete reports whether PROJECT and the main files have what is asked for.
func (a *apiPlan) complete() (bool, error) {
	if a.recorded == nil || a.options.Resource && a.recorded.API == nil || a.options.Controller && !a.recorded.Controller {
		return false, nil
	}
	for file, wanted := range map[string]bool{
		a.project.TypesFile(a.resource):      a.options.Resource,
		a.project.ControllerFile(a.resource): a.options.Controller,
	} {
		if there, err := a.Plan.exists(file); err != nil || wanted && !there {
			return false, err
		}
	}
	return true, nil
}

// exists says that there is nothing to do.
func (a *apiPlan) exists() error {
	what := fmt.Sprintf("the project has %s %s already", a.resource.APIVersion(), a.resource.Kind)
	if a.options.Controller {
		what += ", with a controller"
	}
	return &report.Error{
		What:  what,
		Where: a.project.TypesFile(a.resource),
		Hint:  "edit this file and generate again, or create a kind or version of another name",
		Next:  "slipway generate",
		Err:   ErrExists,
	}
}

func (a *apiPlan) planTypes() error {
	if err := a.createFrom("api/groupversion_info.go", a.project.GroupVersionFile(a.resource), a.data()); err != nil {
		return err
	}
	return a.createFrom("api/types.go", a.project.TypesFile(a.resource), a.data())
}

// planStorageVersion marks the version that is stored when a kind gets its second
// version: the API server wants exactly one, and the first one has the objects.
func (a *apiPlan) planStorageVersion() error {
	if a.recorded != nil && a.recorded.API != nil {
		return nil
	}
	var first string
	for _, r := range a.project.Resources {
		if r.API == nil || r.Group != a.resource.Group || r.Kind != a.resource.Kind || r.Version == a.resource.Version {
			continue
		}
		file := a.project.TypesFile(r)
		c, err := a.find(file)
		if err != nil {
			return err
		}
		if hasStorageVersion(c.after) {
			return nil
		}
		if first == "" && c.exists {
			first = file
		}
	}
	if first == "" {
		return nil
	}
	return a.edit(first, markType(a.resource.Kind, storageVersion))
}

func (a *apiPlan) planController() error {
	if err := a.createFrom("api/controller.go", a.project.ControllerFile(a.resource), a.data()); err != nil {
		return err
	}
	suite, err := a.find(a.project.SuiteTestFile(a.resource))
	if err != nil {
		return err
	}
	if suite.exists && usesGinkgo(suite.before) {
		suite.action, suite.why = report.Kept, "its tests are written with Ginkgo; add one for "+a.resource.Kind+" in their style"
		a.track(suite)
		return nil
	}
	return a.createFrom("api/controller_test.go", a.project.ControllerTestFile(a.resource), a.data())
}

func (a *apiPlan) planSuite() error {
	file := a.project.SuiteTestFile(a.resource)
	there, err := a.Plan.exists(file)
	if err != nil {
		return err
	}
	if !there {
		if err := a.createFrom("api/suite_test.go", file, a.data()); err != nil {
			return err
		}
	}
	return a.edit(file, a.suiteFragments)
}

// planMain wires the API into the manager.
func (a *apiPlan) planMain() error {
	for _, file := range []string{"cmd/main.go", "main.go"} {
		there, err := a.Plan.exists(file)
		if err != nil {
			return err
		}
		if there {
			return a.edit(file, a.mainFragments)
		}
	}
	return &report.Error{What: "there is no cmd/main.go to add the API to", Where: a.root, Hint: "the manager's main package belongs there; nothing was changed"}
}

func (a *apiPlan) planProject() error {
	r := a.recorded
	if r == nil {
		a.project.Resources = append(a.project.Resources, a.resource)
		r = &a.project.Resources[len(a.project.Resources)-1]
	}
	if a.options.Resource && r.API == nil {
		r.API = &project.API{CRDVersion: "v1", Namespaced: a.options.Namespaced}
	}
	r.Path = a.project.ImportPath(*r)
	r.Controller = r.Controller || a.options.Controller
	data, err := a.project.Marshal()
	if err != nil {
		return err
	}
	return a.write(project.FileName, data)
}

// data is what the templates of an API are filled from.
func (a *apiPlan) data() map[string]any {
	r := a.resource
	name := r.SingularName()
	up := `"..", ".."`
	if a.project.MultiGroup && r.Group != "" {
		name = r.Group + "-" + name
		up += `, ".."`
	}
	return map[string]any{
		"Resource":          r,
		"Boilerplate":       a.header,
		"ImportPath":        a.project.ImportPath(r),
		"ControllerPackage": a.project.ControllerPackage(r),
		"ControllerName":    strings.ReplaceAll(name, ".", "-"),
		"Variable":          variable(r),
		"PathToRoot":        up,
		"Namespaced":        a.options.Namespaced,
		"ResourceMarker":    a.resourceMarker(),
	}
}

// resourceMarker says in the types what differs from the usual: plural and scope.
func (a *apiPlan) resourceMarker() string {
	var args []string
	if a.resource.Plural != "" {
		args = append(args, "path="+a.resource.Plural)
	}
	if !a.options.Namespaced {
		args = append(args, "scope=Cluster")
	}
	if len(args) == 0 {
		return ""
	}
	return "+kubebuilder:resource:" + strings.Join(args, ",")
}

// samplesKustomization is the list of samples; kubectl apply -f config/samples
// must not take it for an object, which it does by the ending .yaml.
var samplesKustomizations = []string{"config/samples/Kustomization", "config/samples/kustomization.yaml", "config/samples/kustomization.yml"}

// planConfig plans CRD, sample and roles, and lists them in their kustomizations.
func (a *apiPlan) planConfig() error {
	if err := a.planCRD(); err != nil {
		return err
	}
	if err := a.planSample(); err != nil {
		return err
	}
	for _, role := range []struct{ name, does, verbs string }{
		{"editor", "change", "create, delete, get, list, patch, update, watch"},
		{"viewer", "look at", "get, list, watch"},
	} {
		data := a.data()
		data["RoleVerb"], data["RoleVerbs"] = role.does, role.verbs
		data["RoleName"] = strings.NewReplacer("_", "-", ".", "-").Replace(a.project.RolePrefix(a.resource)) + "-" + role.name + "-role"
		file := a.project.RoleFile(a.resource, role.name)
		if err := a.createFrom("api/role.yaml", file, data); err != nil {
			return err
		}
		if err := a.edit("config/rbac/kustomization.yaml", addListItem("resources", path.Base(file), false)); err != nil {
			return err
		}
	}
	return nil
}

func (a *apiPlan) planCRD() error {
	const list = "config/crd/kustomization.yaml"
	if err := a.createMissing("api/crd_kustomization.yaml", list); err != nil {
		return err
	}
	item := "bases/" + path.Base(a.project.CRDFile(a.resource))
	if err := a.edit(list, insert(fragment{marker: "crdkustomizeresource", code: "- " + item + "\n", key: item})); err != nil {
		return err
	}
	return a.edit("config/default/kustomization.yaml", addListItem("resources", "../crd", true))
}

func (a *apiPlan) planSample() error {
	list := samplesKustomizations[0]
	for _, name := range samplesKustomizations {
		if there, err := a.Plan.exists(name); err != nil {
			return err
		} else if there {
			list = name
		}
	}
	if err := a.createMissing("api/samples_kustomization.yaml", list); err != nil {
		return err
	}
	file := a.project.SampleFile(a.resource)
	if err := a.createFrom("api/sample.yaml", file, a.data()); err != nil {
		return err
	}
	item := path.Base(file)
	return a.edit(list, insert(fragment{marker: "manifestskustomizesamples", code: "- " + item + "\n", key: item}))
}

// createMissing plans a file from a template unless it is there.
func (a *apiPlan) createMissing(name, file string) error {
	if there, err := a.Plan.exists(file); err != nil || there {
		return err
	}
	return a.createFrom(name, file, a.data())
}
