package scaffold

import (
	"fmt"
	"path"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/project"
)

// plan plans every file. PROJECT comes last: what it records is there.
func (a *apiPlan) plan() error {
	complete, err := a.complete()
	if err != nil {
		return err
	}
	for _, step := range append(a.steps(), a.planProject) {
		if err := step(); err != nil {
			return err
		}
	}
	if complete && (len(a.refused) > 0 || a.Empty()) {
		a.nothingToDo(a.whatIsThere())
		return nil
	}
	return a.finish()
}

// steps plan what an API consists of, but for its entry in PROJECT. They run a second
// time, with a plan that records, when the API is deleted.
func (a *apiPlan) steps() []func() error {
	var steps []func() error
	if a.options.Resource {
		steps = append(steps, a.planTypes, a.planStorageVersion, a.planConfig)
	}
	if a.options.SSA {
		steps = append(steps, a.planApplyMarkers)
	}
	if a.options.Controller {
		steps = append(steps, a.planController, a.planSuite)
	}
	return append(steps, a.planMain, a.planModules)
}

// complete reports whether PROJECT and the main files have what is asked for.
func (a *apiPlan) complete() (bool, error) {
	if a.recorded == nil || a.options.Resource && a.recorded.API == nil || a.options.Controller && !a.recordsController() {
		return false, nil
	}
	for file, wanted := range map[string]bool{
		a.project.TypesFile(a.resource): a.options.Resource,
		a.controllerFile():              a.options.Controller,
	} {
		if there, err := a.exists(file); err != nil || wanted && !there {
			return false, err
		}
	}
	return true, nil
}

// whatIsThere says what a complete API has.
func (a *apiPlan) whatIsThere() string {
	what := fmt.Sprintf("%s %s", a.resource.APIVersion(), a.resource.Kind)
	if a.options.Controller {
		what += " with a controller"
	}
	return what + ", in " + a.mainPart()
}

func (a *apiPlan) planTypes() error {
	if err := a.createFrom("api/groupversion_info.go", a.project.GroupVersionFile(a.resource), a.data()); err != nil {
		return err
	}
	return a.createFrom(a.template("api/types.go"), a.project.TypesFile(a.resource), a.data())
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

// planMain wires the API into the manager.
func (a *apiPlan) planMain() error {
	file, err := a.mainFile()
	if err != nil {
		return err
	}
	return a.put(file, a.mainFragments)
}

// mainFile is the file with the manager's main function.
func (a *apiPlan) mainFile() (string, error) {
	for _, file := range []string{"cmd/main.go", "main.go"} {
		if there, err := a.exists(file); err != nil || there {
			return file, err
		}
	}
	if a.needs != nil { // nothing is in it then
		return "cmd/main.go", nil
	}
	return "", &report.Error{What: "there is no cmd/main.go to add the API to", Where: a.root, Hint: "the manager's main package belongs there; nothing was changed"}
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
	a.recordController(r)
	if r.API != nil {
		r.API.SSA = r.API.SSA || a.options.SSA
	}
	if err := a.recordImage(r); err != nil {
		return err
	}
	data, err := a.project.Marshal()
	if err != nil {
		return err
	}
	return a.write(project.FileName, data)
}

// data is what the templates of an API are filled from.
func (a *apiPlan) data() map[string]any {
	r := a.resource
	up := `"..", ".."`
	if a.project.MultiGroup && r.Group != "" {
		up += `, ".."`
	}
	return map[string]any{
		"Resource":          r,
		"Boilerplate":       a.header,
		"ImportPath":        a.project.ImportPath(r),
		"ControllerPackage": a.project.ControllerPackage(r),
		"FirstController":   a.firstController(),
		"ControllerName":    a.controllerName(),
		"Reconciler":        a.reconciler(),
		"Title":             a.controllerTitle(),
		"Variable":          variable(r),
		"PathToRoot":        up,
		"Namespaced":        a.options.Namespaced,
		"ResourceMarker":    a.resourceMarker(),
		"Foreign":           a.foreign(),
		"MarkerGroup":       a.markerGroup(),
		"MarkerNamespace":   a.markerNamespace(),
		"Registers":         a.registers(),
		"HasCRDs":           len(a.project.Groups()) > 0 || a.options.Resource,
		"CoreObject":        a.coreObject(),
		"SSA":               a.ssa(),
		"ApplyImport":       a.applyImport(),
		"Image":             a.options.Image,
		"ImageVariable":     strings.ToUpper(r.Kind) + "_IMAGE",
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
		{"admin", "administer", `"*"`},
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
		if err := a.put("config/rbac/kustomization.yaml", these(listItem{list: "resources", item: path.Base(file)})); err != nil {
			return err
		}
	}
	return nil
}

func (a *apiPlan) planCRD() error {
	const list = "config/crd/kustomization.yaml"
	if err := a.requireFrom("api/crd_kustomization.yaml", list, a.data()); err != nil {
		return err
	}
	item := "bases/" + path.Base(a.project.CRDFile(a.resource))
	if err := a.put(list, inserted(fragment{marker: "crdkustomizeresource", code: "- " + item + "\n", key: item})); err != nil {
		return err
	}
	return a.put("config/default/kustomization.yaml", these(listItem{list: "resources", item: "../crd", first: true}))
}

func (a *apiPlan) planSample() error {
	list := samplesKustomizations[0]
	for _, name := range samplesKustomizations {
		if there, err := a.exists(name); err != nil {
			return err
		} else if there {
			list = name
		}
	}
	if err := a.requireFrom("api/samples_kustomization.yaml", list, a.data()); err != nil {
		return err
	}
	file := a.project.SampleFile(a.resource)
	if err := a.createFrom(a.template("api/sample.yaml"), file, a.data()); err != nil {
		return err
	}
	item := path.Base(file)
	return a.put(list, inserted(fragment{marker: "manifestskustomizesamples", code: "- " + item + "\n", key: item}))
}
