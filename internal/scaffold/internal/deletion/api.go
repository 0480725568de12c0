package deletion

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/kind"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/newapi"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/newwebhook"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projectfile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/undo"
	"github.com/slipway-dev/slipway/project"
)

// API plans the deletion of an API: its files, its lines in shared files and its entry in PROJECT. Files and lines that
// the user changed stay, and the plan's changes list them with the reason. A missing API is no error; the plan has
// nothing to do. With a ControllerName, API deletes that controller alone.
func API(folder *fileview.Folder, d Options) (*plan.Plan, error) {
	if d.ControllerName != "" {
		return Controller(folder, d)
	}
	p, file, err := d.open(folder)
	if err != nil {
		return nil, err
	}
	r, found := lookup(p, file, d)
	if !found {
		if err := refuseUnlisted(p, file, r); err != nil {
			return nil, err
		}
		sample := file.SampleFile(r) // Cronjob would have CronJob's sample
		if !left(p, sample) || slices.ContainsFunc(file.Resources, func(o project.Resource) bool { return file.SampleFile(o) == sample }) {
			p.NothingToDo(d.absent(file, r))
			return p, nil
		}
		r.API = &project.API{CRDVersion: "v1", Namespaced: true}
	}
	if err := Remove(p, file, r, d); err != nil {
		return nil, err
	}
	return p, p.Finish()
}

// Remove is [API] for a kind of PROJECT, in a plan that may have changed the project already.
func Remove(p *plan.Plan, file *project.Project, r project.Resource, d Options) error {
	part, before := &plan.Needs{}, copyOf(file)
	if err := needsOf(p.Record(part), before, r); err != nil {
		return err
	}
	part.Files = slices.DeleteFunc(part.Files, func(f plan.NeededFile) bool { return hasOthersOnly(p, f.Path, r.Kind) })
	if err := leaveHub(p.Record(part), file, r); err != nil {
		return err
	}
	file.Resources = slices.DeleteFunc(file.Resources, func(o project.Resource) bool { return sameKind(o, r) })
	for _, step := range []func() error{
		func() error { return retire(p, before, file) },
		func() error { return undoVersion(p, before, file, r, d, part) },
		func() error { return d.refuseHalf(p, file, r) },
		func() error { return d.refuseServedAPI(p, file, r) },
		func() error { return newapi.DropEmptySamples(p) },
		func() error { return newapi.ForgetImage(file, r) },
		func() error { return kind.SettleStorageVersion(p, file, r) },
		func() error { return projectfile.Write(p, file) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// hasOthersOnly reports whether a file has types of other kinds and none of this one.
func hasOthersOnly(p *plan.Plan, file, kind string) (others bool) {
	for _, k := range p.Code().Package(path.Dir(file)).Kinds {
		if k.File == file && k.Name == kind {
			return false
		}
		others = others || k.File == file
	}
	return others
}

// Unconvert plans that the hub of a kind does not convert one of its versions any more. If that was the only spoke, the
// kind has no conversion.
func Unconvert(p *plan.Plan, file *project.Project, spoke project.Resource, d Options) error {
	part, before := &plan.Needs{}, copyOf(file)
	if err := leaveHub(p.Record(part), file, spoke); err != nil {
		return err
	}
	if err := retire(p, before, file); err != nil {
		return err
	}
	if err := undoRest(p, file, d, part); err != nil {
		return err
	}
	return projectfile.Write(p, file)
}

// DropOldPaths plans that the webhooks of a hub do not answer at the paths of another version any more.
func DropOldPaths(p *plan.Plan, file *project.Project, hub, old project.Resource, d Options) error {
	part := &plan.Needs{}
	if err := newwebhook.RecordOldPaths(p.Record(part), file, hub, old); err != nil {
		return err
	}
	return undo.Part(p, part, &plan.Needs{}, d.WithChanges, advice)
}

// leaveHub removes a deleted version from the spokes of its kind's hub, and records what its conversion consists of. If
// it was the last spoke, the hub has no conversion any more.
func leaveHub(p *plan.Plan, file *project.Project, r project.Resource) error {
	before := copyOf(file)
	for i, hub := range file.Resources {
		if hub.Group != r.Group || hub.Kind != r.Kind || hub.Webhooks == nil || !slices.Contains(hub.Webhooks.Spoke, r.Version) {
			continue
		}
		staying := *hub.Webhooks
		staying.Spoke = slices.DeleteFunc(slices.Clone(staying.Spoke), func(version string) bool { return version == r.Version })
		staying.Conversion = len(staying.Spoke) > 0
		file.Resources[i].Webhooks = orNone(staying)
		hub.Webhooks = &project.Webhooks{Conversion: true, Spoke: []string{r.Version}}
		if err := newwebhook.Record(p, before, hub); err != nil {
			return err
		}
	}
	return nil
}

// lookup finds the API in PROJECT or, if only files that were kept remain of it, in the base.
func lookup(p *plan.Plan, file *project.Project, d Options) (r project.Resource, found bool) {
	if r := file.Lookup(d.Group, d.Version, d.Kind); r != nil {
		return *r, true
	}
	r = project.Resource{Group: d.Group, Version: d.Version, Kind: d.Kind, Domain: file.Domain}
	others := recordedFiles(file)
	if types := file.TypesFile(r); left(p, types) && !slices.Contains(others, types) {
		r.API = &project.API{CRDVersion: "v1", Namespaced: true}
	}
	controller := file.ControllerFile(r)
	r.Controller = left(p, controller) && !slices.Contains(others, controller)
	return r, r.API != nil || r.Controller
}

// recordedFiles returns the main files of all kinds in PROJECT. Versions of a kind share their controller's file, and
// Cronjob would have CronJob's files.
func recordedFiles(file *project.Project) []string {
	var files []string
	for _, r := range file.Resources {
		if r.API != nil {
			files = append(files, file.TypesFile(r))
		}
		if r.Controller {
			files = append(files, file.ControllerFile(r))
		}
	}
	return files
}

// left reports whether a scaffolded file still exists.
func left(p *plan.Plan, path string) bool {
	_, scaffolded := p.Base().File(path)
	_, err := os.Lstat(filepath.Join(p.Root(), filepath.FromSlash(path)))
	return scaffolded && err == nil
}

// undoVersion removes a version of a kind. Before and file are the project before and after. What the version shares
// with kinds that only the code has stays: definition and roles with other versions, the package and its registration
// with other kinds.
func undoVersion(p *plan.Plan, before, file *project.Project, gone project.Resource, d Options, part *plan.Needs) error {
	all := copyOf(file)
	if gone.API != nil {
		unlisted, err := projectfile.Unlisted(p, before)
		if err != nil {
			return err
		}
		for _, r := range unlisted {
			if r.Group == gone.Group && (r.Version == gone.Version) != (r.Kind == gone.Kind) {
				all.Resources = append(all.Resources, r)
			}
		}
	}
	return undoRest(p, all, d, part)
}

// Controller plans the deletion of the named controller d.ControllerName; see [API].
func Controller(folder *fileview.Folder, d Options) (*plan.Plan, error) {
	p, file, err := d.open(folder)
	if err != nil {
		return nil, err
	}
	r := file.Lookup(d.Group, d.Version, d.Kind)
	if r == nil {
		p.NothingToDo(d.absent(file, project.Resource{Group: d.Group, Version: d.Version, Kind: d.Kind, Domain: file.Domain}))
		return p, nil
	}
	called := func(c project.Controller) bool { return c.Name == d.ControllerName }
	gone := *r
	if !slices.ContainsFunc(r.Controllers, called) {
		if !left(p, file.NamedControllerFile(*r, d.ControllerName)) {
			p.NothingToDo(d.withoutController(*r))
			return p, nil
		}
		gone.Controllers = append(slices.Clone(r.Controllers), project.Controller{Name: d.ControllerName})
	}
	part := &plan.Needs{}
	if err := newapi.RecordController(p.Record(part), copyOf(file), gone, d.ControllerName); err != nil {
		return nil, err
	}
	r.Controllers = slices.DeleteFunc(slices.Clone(r.Controllers), called)
	if r.API == nil && !r.Controller && len(r.Controllers) == 0 && r.Webhooks == nil {
		file.Resources = slices.DeleteFunc(file.Resources, func(o project.Resource) bool { return sameKind(o, gone) })
	}
	if err := undoRest(p, file, d, part); err != nil {
		return nil, err
	}
	if err := projectfile.Write(p, file); err != nil {
		return nil, err
	}
	return p, p.Finish()
}

// withoutController explains that the kind has no such controller, and lists those that it has.
func (o Options) withoutController(r project.Resource) string {
	var names []string
	for _, c := range r.Controllers {
		names = append(names, c.Name)
	}
	has := "it has only the default one"
	if len(names) > 0 {
		has = "it has " + strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s has no additional controller %s; %s", r.Kind, o.ControllerName, has)
}
