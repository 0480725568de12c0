package deletion

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/api"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/kind"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projectfile"
	"github.com/slipway-dev/slipway/project"
)

// API plans the undoing of what created an API in the project in folder root: its
// files, its lines in files that it shares, and its entry in PROJECT. Changed files and
// lines stay, and the plan's changes say which and why. When there is nothing to delete,
// the error is [ErrAbsent].
func API(root string, d Options) (*plan.Plan, error) {
	p, file, err := d.open(root)
	if err != nil {
		return nil, err
	}
	r, err := lookup(p, file, d)
	if err != nil {
		return nil, err
	}
	part := &plan.Needs{}
	if err := needsOf(p.Record(part), copyOf(file), r); err != nil {
		return nil, err
	}
	file.Resources = slices.DeleteFunc(file.Resources, func(o project.Resource) bool { return sameKind(o, r) })
	for _, step := range []func() error{
		func() error { return undoRest(p, file, d, part) },
		func() error { return api.ForgetImage(file, r) },
		func() error { return projectfile.Write(p, file) },
		func() error { return kind.SettleStorageVersion(p, file, r) },
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return p, p.Finish()
}

// lookup finds the API in PROJECT or, when it is deleted but for files that were kept, in
// the base.
func lookup(p *plan.Plan, file *project.Project, d Options) (project.Resource, error) {
	if r := file.Lookup(d.Group, d.Version, d.Kind); r != nil {
		return *r, nil
	}
	r := project.Resource{Group: d.Group, Version: d.Version, Kind: d.Kind, Domain: file.Domain}
	if left(p, file.TypesFile(r)) {
		r.API = &project.API{CRDVersion: "v1", Namespaced: true}
	}
	r.Controller = left(p, file.ControllerFile(r))
	if r.API != nil || r.Controller {
		return r, nil
	}
	return r, absent(file, r)
}

// left reports whether a scaffolded file is there still.
func left(p *plan.Plan, path string) bool {
	_, scaffolded := p.Base().File(path)
	_, err := os.Lstat(filepath.Join(p.Root(), filepath.FromSlash(path)))
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
