package newapi

import (
	"bytes"
	"path"
	"slices"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/piece"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
)

// listing returns the kustomization that lists the files of a folder, and the prefix of their names in it. It is the
// folder's own or, if that is missing, the parent's; "" if neither lists files of the folder.
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

// crdsElsewhere reports whether the Makefile generates definitions into a folder that is not the layout's.
func (a *planner) crdsElsewhere() bool {
	folder := a.generation.CRDFolder()
	return folder != "" && folder != codebase.CRDFolder && folder != a.Code().LayoutCRDFolder()
}

func (a *planner) crdFile() string {
	name := a.project.CRDFileName(a.resource)
	if a.crdsElsewhere() {
		return path.Join(a.generation.CRDFolder(), name)
	}
	return path.Join(a.Code().LayoutCRDFolder(), name)
}

// crdFiles returns all files of the kind's definition: the Makefile may generate it into several folders.
func (a *planner) crdFiles() []string {
	files := []string{a.crdFile()}
	for _, folder := range a.generation.CRDFolders() {
		if file := path.Join(folder, path.Base(files[0])); !slices.Contains(files, file) {
			files = append(files, file)
		}
	}
	return files
}

// planCRDElsewhere lists the definition where those of other kinds are listed.
func (a *planner) planCRDElsewhere() error {
	list, prefix := a.listing(a.generation.CRDFolder())
	if list == "" && a.Code().Kustomization(a.Code().CRDListFolder()) != "" {
		a.Leave(a.crdFile() + ": no kustomization lists the files of this folder, and " + a.Code().CRDListFolder() + " lists others")
	}
	if list == "" {
		return nil // a chart, for example, contains all files of a folder
	}
	item := prefix + path.Base(a.crdFile())
	return a.InsertIfPlaced(list, plan.These(piece.Item{List: "resources", Name: item}), "- "+item)
}

// RolesFolder returns the folder for roles that users of a kind get, its kustomization, and the prefix of file names
// there. The manager's role is in the same folder. List is "" if no kustomization lists it; then such roles are not
// created.
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

// warnOfMarkers reports that the manager's role will lack the new controller's permissions, if the Makefile's call of
// the generator does not read its folder.
func (a *planner) warnOfMarkers() error {
	file := a.controllerFile()
	a.LeaveMissed(a.generation, "rbac", path.Dir(file), "the markers in "+file+" are not in it: role.yaml gets no permissions from them")
	return nil
}

// warnOfTypes reports the same for the types: without generated methods, code that uses them does not compile.
func (a *planner) warnOfTypes() error {
	dir := path.Dir(a.types)
	a.LeaveMissed(a.generation, "object", dir, "the types in "+a.types+" are not in it: they get no DeepCopy methods, and the code does not compile without them")
	a.LeaveMissed(a.generation, "crd", dir, "the types in "+a.types+" are not in it: they get no definition")
	return nil
}
