package scaffold

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/project"
)

// A Deletion says what to take out of a project.
type Deletion struct {
	Group, Version, Kind string
	WithChanges          bool // also files that somebody has changed
}

// ErrAbsent says that there is nothing to delete.
var ErrAbsent = errors.New("nothing was deleted")

// DeleteAPI plans the undoing of what created an API in the project in folder root: its
// files, its lines in files that it shares, and its entry in PROJECT. Changed files and
// lines stay, and the plan's changes say which and why. When there is nothing to delete,
// the error is [ErrAbsent].
func DeleteAPI(root string, d Deletion) (*Plan, error) {
	file, err := loadProject(root)
	if err != nil {
		return nil, err
	}
	if err := (API{Group: d.Group, Version: d.Version, Kind: d.Kind}).Check(); err != nil {
		return nil, err
	}
	plan, err := newPlan(root)
	if err != nil {
		return nil, err
	}
	r, err := plan.lookup(file, d)
	if err != nil {
		return nil, err
	}
	part := &needs{}
	if err := plan.needsOf(copyOf(file), r, part); err != nil {
		return nil, err
	}
	file.Resources = slices.DeleteFunc(file.Resources, func(o project.Resource) bool { return sameKind(o, r) })
	u, err := plan.undo(file, d, part)
	if err != nil {
		return nil, err
	}
	for _, step := range []func() error{
		u.plan,
		func() error { return forgetImage(file, r) },
		func() error { return plan.writeResources(file) },
		func() error { return plan.settleStorageVersion(file, r) },
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return plan, plan.finish()
}

// lookup finds the API in PROJECT or, when it is deleted but for files that were kept, in
// the base.
func (p *Plan) lookup(file *project.Project, d Deletion) (project.Resource, error) {
	if r := file.Lookup(d.Group, d.Version, d.Kind); r != nil {
		return *r, nil
	}
	r := project.Resource{Group: d.Group, Version: d.Version, Kind: d.Kind, Domain: file.Domain}
	if p.left(file.TypesFile(r)) {
		r.API = &project.API{CRDVersion: "v1", Namespaced: true}
	}
	r.Controller = p.left(file.ControllerFile(r))
	if r.API != nil || r.Controller {
		return r, nil
	}
	return r, absent(file, r)
}

// left reports whether a scaffolded file is there still.
func (p *Plan) left(path string) bool {
	_, scaffolded := p.base.File(path)
	_, err := os.Lstat(filepath.Join(p.root, filepath.FromSlash(path)))
	return scaffolded && err == nil
}

// absent says which APIs there are.
func absent(file *project.Project, r project.Resource) error {
	e := &report.Error{
		What:  fmt.Sprintf("the project has no %s %s", r.APIVersion(), r.Kind),
		Where: project.FileName, Hint: "it has no APIs at all", Err: ErrAbsent,
	}
	var has []string
	for _, r := range file.Resources {
		has = append(has, fmt.Sprintf("--group %s --version %s --kind %s", r.Group, r.Version, r.Kind))
	}
	if len(has) > 0 {
		e.Hint = "it has:\n" + strings.Join(has, "\n")
	}
	return e
}

// undo starts the undoing of a part. The rest is what the project consists of when it is as
// in after.
func (p *Plan) undo(after *project.Project, d Deletion, part *needs) (*undoing, error) {
	u := &undoing{Plan: p, part: part, rest: &needs{names: true}, withChanges: d.WithChanges}
	for _, r := range after.Resources {
		if err := p.needsOf(after, r, u.rest); err != nil {
			return nil, err
		}
	}
	return u, p.needsOfFeatures(after, u.rest)
}

// copyOf is the project as it is, for when its kinds will change.
func copyOf(file *project.Project) *project.Project {
	before := *file
	before.Resources = slices.Clone(file.Resources)
	return &before
}

// sameKind reports whether two entries of PROJECT are about the same version of a kind.
func sameKind(a, b project.Resource) bool {
	return a.Group == b.Group && a.Version == b.Version && a.Kind == b.Kind
}

// needsOf adds what a kind of the project consists of.
func (p *Plan) needsOf(file *project.Project, r project.Resource, to *needs) error {
	if err := p.needsOfWebhooks(file, r, to); err != nil {
		return err
	}
	calls, err := callsOf(file, r)
	if err != nil {
		return err
	}
	if !r.HasOwnPlural() {
		r.Plural = ""
	}
	for _, options := range calls {
		a := &apiPlan{Plan: recording(p.root, p.base, to), project: file, options: options, resource: r, recorded: &r}
		if err := a.readHeader(); err != nil {
			return err
		}
		for _, step := range append(a.steps(), a.needGenerated) {
			if err := step(); err != nil {
				return err
			}
		}
	}
	return nil
}

// callsOf are the calls of create api that make what PROJECT records of a kind: one for its
// types and usual controller, one for each other controller.
func callsOf(file *project.Project, r project.Resource) ([]API, error) {
	first := API{
		Group: r.Group, Version: r.Version, Kind: r.Kind, Plural: r.Plural,
		Resource: r.API != nil, Namespaced: r.API == nil || r.API.Namespaced,
		Controller: r.Controller, SSA: r.API != nil && r.API.SSA,
	}
	var err error
	if first.Image, err = imageOf(file, r); err != nil {
		return nil, err
	}
	var calls []API
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

// needGenerated records the files that the generator makes of the API's types.
func (a *apiPlan) needGenerated() error {
	if a.options.Resource {
		from := a.project.TypesFile(a.resource)
		a.needs.addGenerated(a.project.CRDFile(a.resource), from)
		a.needs.addGenerated(a.project.APIDir(a.resource)+"/zz_generated.deepcopy.go", from)
	}
	return nil
}

// writeResources plans PROJECT.
func (p *Plan) writeResources(file *project.Project) error {
	data, err := file.Marshal()
	if err != nil {
		return err
	}
	return p.write(project.FileName, data)
}

// settleStorageVersion leaves the other versions of the kind with one that is stored: a
// version that is alone needs no marker, and gets rid of one that slipway has put there.
func (p *Plan) settleStorageVersion(file *project.Project, r project.Resource) error {
	var files []string
	for _, o := range file.Resources {
		if o.API != nil && o.Group == r.Group && o.Kind == r.Kind {
			files = append(files, file.TypesFile(o))
		}
	}
	marked := ""
	for _, path := range files {
		c, err := p.find(path)
		if err != nil {
			return err
		}
		if hasStorageVersion(c.after) {
			marked = path
		}
	}
	switch scaffolded, _ := p.base.File(marked); {
	case len(files) == 1 && hasStorageVersion(scaffolded):
		return p.edit(marked, unmarkType(r.Kind, storageVersion))
	case len(files) > 1 && marked == "":
		return p.edit(files[0], markType(r.Kind, storageVersion))
	}
	return nil
}
