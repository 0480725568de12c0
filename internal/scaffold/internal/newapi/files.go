package newapi

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/kind"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/piece"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projectfile"
	"github.com/slipway-dev/slipway/project"
)

// plan plans every file, PROJECT last.
func (a *planner) plan() error {
	complete, err := a.complete()
	if err != nil {
		return err
	}
	for _, step := range append(a.steps(), a.planProject) {
		if err := step(); err != nil {
			return err
		}
	}
	if complete && (a.Refused() || a.Empty()) {
		a.NothingToDo("the project has " + a.whatIsThere() + ", already")
		return nil
	}
	for _, text := range []string{a.doubledDomain(), a.dotlessGroupWarning()} {
		if text != "" && a.recorded == nil && !kind.Foreign(a.resource) {
			a.Leave(text)
		}
	}
	return a.Finish()
}

// steps plan what an API consists of, except its entry in PROJECT. Deleting the API runs them again with a plan that
// records.
func (a *planner) steps() []func() error {
	var steps []func() error
	if a.options.Resource {
		steps = append(steps, a.planTypes, a.planStorageVersion, a.planConfig, a.warnOfTypes)
	}
	if a.options.SSA {
		steps = append(steps, a.planApplyMarkers)
	}
	if a.options.Resource {
		steps = append(steps, a.planMigration)
	}
	if a.makesController() {
		steps = append(steps, a.planController, a.planTests, a.warnOfMarkers)
	}
	if a.theirs != "" && !a.options.Resource {
		return append(steps, a.keepExistingController) // the authors set it up
	}
	return append(steps, a.keepExistingController, a.planMain, a.planModules)
}

// complete reports whether PROJECT and the main files have everything requested.
func (a *planner) complete() (bool, error) {
	if a.recorded == nil || a.options.Resource && a.recorded.API == nil || a.options.Controller && !a.recordsController() {
		return false, nil
	}
	for file, wanted := range map[string]bool{
		a.types:            a.options.Resource,
		a.controllerFile(): a.makesController(),
	} {
		if there, err := a.Exists(file); err != nil || wanted && !there {
			return false, err
		}
	}
	return true, nil
}

func (a *planner) whatIsThere() string {
	what := fmt.Sprintf("%s %s", a.resource.APIVersion(), a.resource.Kind)
	if a.options.Controller {
		what += " with a controller"
	}
	return what + ", in " + cmp.Or(a.theirs, a.mainPart())
}

func (a *planner) planTypes() error {
	a.registration = a.Code().Package(a.project.APIDir(a.resource)).Registration
	if usual := a.project.GroupVersionFile(a.resource); cmp.Or(a.registration.File, usual) == usual {
		if err := a.CreateFrom("api/groupversion_info.go", usual, a.data()); err != nil {
			return err
		}
	}
	return a.CreateFrom(a.template("api/types.go"), a.types, a.data())
}

// planStorageVersion marks the storage version of a kind that gets a second version.
func (a *planner) planStorageVersion() error {
	if a.recorded != nil && a.recorded.API != nil {
		return nil
	}
	return kind.MarkStorageVersion(a.Plan, a.project, a.resource)
}

func (a *planner) planProject() error {
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
	return projectfile.Write(a.Plan, a.project)
}

func (a *planner) data() map[string]any {
	r := a.resource
	return map[string]any{
		"Resource":           r,
		"Boilerplate":        a.header,
		"ImportPath":         a.project.ImportPath(r),
		"ControllerPackage":  a.project.ControllerPackage(r),
		"FirstController":    a.firstController(),
		"ControllerName":     a.controllerName(),
		"Reconciler":         a.reconciler(),
		"Title":              a.controllerTitle(),
		"Variable":           kind.Variable(r),
		"PathToRoot":         kind.PathToRoot(a.project.ControllerDir(r)),
		"TestImportsContext": a.versions.TestImportsContext(),
		"TestContext":        a.versions.TestContext(),
		"OmitZero":           a.versions.OmitZero(),
		"Conditions":         a.versions.Conditions(),
		"RegistersObjects":   a.registration.Objects,
		"GroupVersionName":   cmp.Or(a.registration.GroupVersion, "GroupVersion"),
		"Namespaced":         a.options.Namespaced,
		"ResourceMarker":     a.resourceMarker(),
		"Foreign":            kind.Foreign(a.resource),
		"MarkerGroup":        cmp.Or(r.QualifiedGroup(), `""`),
		"MarkerNamespace":    a.markerNamespace(),
		"Registers":          kind.Registers(a.resource),
		"CRDPath":            cmp.Or(a.generation.CRDFolder(), codebase.CRDFolder),
		"StartsControlPlane": a.TestsStart(a.project.ControllerDir(a.resource)),
		"HasCRDs":            len(a.project.Groups()) > 0 || a.options.Resource,
		"CoreObject":         kind.CoreObjectOf(a.resource),
		"SSA":                a.ssa(),
		"ApplyImport":        a.applyImport(),
		"Image":              a.options.Image,
		"ImageVariable":      strings.ToUpper(r.Kind) + "_IMAGE",
	}
}

// resourceMarker is the marker for a plural or a scope that is not the default; "" if both are.
func (a *planner) resourceMarker() string {
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

// planConfig plans the definition's entry, the sample and the roles.
func (a *planner) planConfig() error {
	if err := a.planCRD(); err != nil {
		return err
	}
	if !a.options.HasSample {
		if err := a.planSample(); err != nil {
			return err
		}
	}
	return a.planRoles()
}

func (a *planner) planCRD() error {
	switch {
	case a.generation.CRDFolder() == "":
		return nil
	case a.crdsElsewhere():
		return a.planCRDElsewhere()
	}
	folder := a.Code().CRDListFolder()
	list := a.Code().KustomizationFor(folder)
	if err := a.RequireFrom("api/crd_kustomization.yaml", list, a.data()); err != nil {
		return err
	}
	item := path.Base(codebase.CRDFolder) + "/" + a.project.CRDFileName(a.resource)
	if err := a.InsertIfPlaced(list, plan.These(piece.Listed{Marker: "crdkustomizeresource", Name: item}), "- "+item); err != nil {
		return err
	}
	return a.deployCRDs(list, folder)
}

// deployCRDs lists the folder of definitions in config/default. If config/default lists something inside that folder,
// the project deploys its definitions from there: with both, kustomize would get each twice.
func (a *planner) deployCRDs(list, folder string) error {
	deployed, item := a.Code().KustomizationFor(codebase.DeployedFolder), "../"+strings.TrimPrefix(folder, "config/")
	line := plan.These(piece.Item{List: "resources", Name: item, First: true})
	if a.Recording() {
		a.NeedDeployed(list, deployed, line)
		return nil
	}
	c, err := a.Find(deployed)
	if err != nil || !c.There() && a.project.Older() { // deployed from another folder
		return err
	}
	listed := codebase.Lists(deployed, c.After())
	within := slices.IndexFunc(listed, func(name string) bool { return strings.HasPrefix(name, folder+"/") })
	if within >= 0 && !slices.Contains(listed, folder) {
		a.Leave(fmt.Sprintf("%s: it lists %s in place of %s: see to it that the new definition gets there", deployed, listed[within], folder))
		return nil
	}
	return a.InsertIfPlaced(deployed, line, "- "+item)
}

func (a *planner) planSample() error {
	place, err := a.Code().SamplePlace(a.project, a.resource)
	if err != nil {
		return err
	}
	if path.Dir(place.List) == codebase.SampleFolder {
		if err := a.RequireFrom("api/samples_kustomization.yaml", place.List, a.data()); err != nil {
			return err
		}
	}
	if err := a.CreateFrom(a.template("api/sample.yaml"), place.File, a.data()); err != nil {
		return err
	}
	if len(place.Apart) > 0 {
		a.Leave(fmt.Sprintf("%s: the project keeps its samples by folder, in %s: move this one to where it belongs, and list it there:\n- %s",
			place.File, strings.Join(place.Apart, ", "), path.Base(place.File)))
	}
	if place.List == "" {
		return nil
	}
	return a.InsertIfPlaced(place.List, plan.These(piece.Listed{Marker: "manifestskustomizesamples", Name: place.Item}), "- "+place.Item)
}

// DropEmptySamples removes slipway's list of samples once it lists none. Samples that another tool made were never in
// it.
func DropEmptySamples(p *plan.Plan) error {
	item := regexp.MustCompile(`(?m)^\s*- `)
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		list := path.Join(codebase.SampleFolder, name)
		c, err := p.Find(list)
		if err != nil {
			return err
		}
		scaffolded, ours := p.Base().File(list)
		if ours && c.There() && bytes.Equal(c.After(), scaffolded) && !item.Match(scaffolded) {
			if err := p.Remove(list); err != nil {
				return err
			}
		}
	}
	return nil
}

// planTests plans the controller's test and suite, unless the test would not compile.
func (a *planner) planTests() error {
	own, err := a.ownSuite()
	if err != nil {
		return err
	}
	if own.File == "" {
		if a.options.Untested != "" {
			a.Leave(fmt.Sprintf("%s: no test was written, and no suite for it, since it would not compile: %s; add a test of %s in the project's own way",
				a.controllerTestFile(), a.options.Untested, a.reconciler()))
			return nil
		}
		if err := a.CreateFrom(a.controllerTest(), a.controllerTestFile(), a.data()); err != nil {
			return err
		}
	}
	return a.planSuite(own)
}

// testedOtherwise reports whether the controller has a test of its authors that does not use the suite's client. Such a
// controller needs no suite, and keeps none when another controller is deleted.
func (a *planner) testedOtherwise() bool {
	if a.Recording() && !a.NamesOnly() {
		return false
	}
	test, err := a.Find(a.controllerTestFile())
	return err == nil && test.OnDisk() && !bytes.Contains(test.Before(), []byte(plan.SuiteClient))
}
