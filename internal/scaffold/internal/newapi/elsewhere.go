package newapi

import (
	"bytes"
	"path"
	"slices"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/piece"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
)

// listing is the kustomization that lists the files of a folder, and what it has before their names: the one in the
// folder, or the one above that lists others of them. It is "" where there is none.
func (a *planner) listing(folder string) (list, prefix string) {
	if list := a.Code().Kustomization(folder); list != "" {
		return list, ""
	}
	above := a.Code().KustomizationFor(path.Dir(folder))
	data, err := a.Code().View().ReadFile(above)
	if prefix = path.Base(folder) + "/"; err == nil && bytes.Contains(data, []byte(prefix)) {
		return above, prefix
	}
	return "", ""
}

// crdsElsewhere reports whether definitions are generated into a folder that the layout does not know.
func (a *planner) crdsElsewhere() bool {
	usual, folder := a.Code().ConfigFolder("crd"), a.generation.CRDFolder()
	return folder != "" && folder != codebase.CRDFolder && folder != usual+"/bases"
}

// crdFile is where the generator writes the kind's definition.
func (a *planner) crdFile() string {
	name := path.Base(a.project.CRDFile(a.resource))
	if a.crdsElsewhere() {
		return path.Join(a.generation.CRDFolder(), name)
	}
	return path.Join(a.Code().ConfigFolder("crd"), "bases", name)
}

// crdFiles are all the files of the kind's definition: the Makefile may have the generator write it into several
// folders.
func (a *planner) crdFiles() []string {
	files := []string{a.crdFile()}
	for _, folder := range a.generation.CRDFolders() {
		if file := path.Join(folder, path.Base(files[0])); !slices.Contains(files, file) {
			files = append(files, file)
		}
	}
	return files
}

// planCRDElsewhere lists the definition where those of the other kinds are listed.
func (a *planner) planCRDElsewhere() error {
	list, prefix := a.listing(a.generation.CRDFolder())
	if list == "" && a.Code().Kustomization(a.Code().ConfigFolder("crd")) != "" {
		a.Leave(a.crdFile() + ": no kustomization lists the files of this folder, and " + a.Code().ConfigFolder("crd") + " lists others")
	}
	if list == "" {
		return nil // a chart, say, has all files of a folder
	}
	item := prefix + path.Base(a.crdFile())
	return a.InsertIfPlaced(list, plan.These(piece.Item{List: "resources", Name: item}), "- "+item)
}

// RolesFolder is where the roles for people go, with the kustomization that lists them and what this has before their
// names: beside the manager's role. Where that is listed nowhere they are left out, and list is "".
func RolesFolder(p *plan.Plan) (folder, list, prefix string, err error) {
	generation, err := p.Code().Generation()
	if err != nil {
		return "", "", "", err
	}
	folder, list, prefix = (&planner{Plan: p, generation: generation}).rolesFolder()
	return folder, list, prefix, nil
}

func (a *planner) rolesFolder() (folder, list, prefix string) {
	usual := a.Code().ConfigFolder("rbac")
	folder = a.generation.RoleFolder(usual)
	if folder == usual || a.Code().Kustomization(usual) != "" {
		return usual, a.Code().KustomizationFor(usual), ""
	}
	list, prefix = a.listing(folder)
	return folder, list, prefix
}

// warnOfMarkers says that the manager's role will lack the permissions of a new controller, if the Makefile has the
// generator read other folders.
func (a *planner) warnOfMarkers() error {
	file := a.controllerFile()
	a.LeaveMissed(a.generation, "rbac", path.Dir(file), "the markers in "+file+" are not in it: role.yaml gets no permissions from them")
	return nil
}

// warnOfTypes says the same of the types: without their methods they do not compile where they are used.
func (a *planner) warnOfTypes() error {
	dir := path.Dir(a.types)
	a.LeaveMissed(a.generation, "object", dir, "the types in "+a.types+" are not in it: they get no DeepCopy methods, and the code does not compile without them")
	a.LeaveMissed(a.generation, "crd", dir, "the types in "+a.types+" are not in it: they get no definition")
	return nil
}
