// Package newversion plans what `create version` makes: a version of a kind with the types of another one. If it
// becomes the hub, the code that used the other version uses this one: controllers, webhooks, tests and samples.
//
// [Create] makes the new types and moves what uses the old ones. Then it plans as `create api` and `create webhook` do
// for a kind whose types exist, so that the manager, PROJECT and the conversion are as these verbs make them.
//
// [Delete] is the way back. It moves the uses with the versions exchanged, and deletes the old types. Then it plans as
// `delete api` does.
package newversion

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/fieldcopy"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/kind"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/newapi"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/newwebhook"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projectfile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/relocate"
	"github.com/slipway-dev/slipway/internal/shellword"
	"github.com/slipway-dev/slipway/project"
)

// Options are the flags of `create version`.
type Options struct {
	Group, Version, Kind string
	From                 string            // the version whose types are copied
	Rename               map[string]string // names of fields in JSON, and those in the new version
	Storage              bool              // the new version is the hub, objects are stored in it, and the code uses it
	SkipWiring           bool              // leave the manager's code to the user
	Manager              string            // folder of the manager's main package, if there are several
}

// Check refuses invalid names without reading the project.
func (o Options) Check() error {
	for flag, version := range map[string]string{"VERSION": o.Version, "--from": o.From} {
		err := project.ValidateVersion(version)
		if err == nil {
			continue
		}
		refusal := projectfile.InvalidName(err)
		if e, ok := errors.AsType[*report.Error](refusal); ok {
			e.Where = flag
		}
		return refusal
	}
	return kind.CheckNames(o.Group, o.Version, o.Kind, "")
}

// Create plans a version. It returns the Go names of renamed fields, too: the plan compiles after [RenameUses].
func Create(folder *fileview.Folder, o Options) (*plan.Plan, []fieldcopy.Renamed, error) {
	if err := o.Check(); err != nil {
		return nil, nil, err
	}
	p, file, err := projectfile.Open(folder)
	if err != nil {
		return nil, nil, err
	}
	if err := p.Code().Choose(o.Manager); err != nil {
		return nil, nil, err
	}
	v := &planner{Plan: p, project: file, options: o}
	if there := file.Lookup(o.Group, o.Version, o.Kind); there != nil && there.API != nil {
		return p, nil, v.exists(*there)
	}
	if err := v.find(); err != nil {
		return nil, nil, err
	}
	for _, step := range []func() error{v.findFiles, v.findWebhooks, v.copyTypes, v.renameFields, v.moveSamples, v.moveUsers, v.addKind, v.addConversion, v.answerOldPaths} {
		if err := step(); err != nil {
			return nil, nil, err
		}
	}
	return p, v.renamed, p.Finish()
}

// exists ends the planning of a version that the project has. It is an error if that is to be the hub and is not.
func (v *planner) exists(r project.Resource) error {
	v.old = r
	if hub := v.hub(); hub != nil && hub.Version != r.Version && v.options.Storage {
		return &report.Error{
			What: fmt.Sprintf("the project has %s already, a spoke, and the hub is %s", r.Version, hub.Version), Where: "VERSION",
			Hint: "create version makes the hub of a new version only", Next: fmt.Sprintf("slipway delete version %s --group %s --kind %s", r.Version, shellword.Quote(r.Group), r.Kind),
			Code: report.UsageCode,
		}
	}
	v.NothingToDo(fmt.Sprintf("the project has %s %s already", r.APIVersion(), r.Kind))
	return nil
}

// A planner plans one version.
type planner struct {
	*plan.Plan
	project  *project.Project
	options  Options
	old, new project.Resource

	copied   []string          // files of the old package that the new one gets too, by name
	moved    []string          // webhooks beside the types
	ownNames map[string]bool   // names of the kind's types that no other kind needs
	left     map[string][]unit // what copies leave out, by file
	dropped  []string          // the names of that
	moves    bool              // the new version gets the webhooks of the old one
	exact    []string          // markers of its webhooks that are asked about objects of the old version alone
	webhooks *relocate.Package
	beside   []project.Resource // kinds whose webhooks stay in the folder
	suite    string             // the suite of the webhooks' tests
	set      *relocate.Set
	sample   [2]string // the names of the sample's file before and after; "" without one

	deletion    *Deletion       // the old version goes; nil if it stays
	lastKind    bool            // its package has no other kind
	divided     map[string]bool // files of the old package that other kinds need, too
	unconverted bool            // the new version is no spoke of the old one any more

	renamed   []fieldcopy.Renamed
	paths     []fieldPath // of renamed fields
	hasSample bool        // an object of the new version is among the samples, which is not new
}

// find finds both versions.
func (v *planner) find() error {
	o := v.options
	old := v.project.Lookup(o.Group, o.From, o.Kind)
	if old == nil || !v.project.Own(*old) {
		return v.unknown()
	}
	v.old, v.new = *old, *old
	v.new.Version, v.new.Path = o.Version, ""
	dir, err := newapi.TypesDir(v.Plan, v.project, v.new)
	if err != nil {
		return err
	}
	v.new.Path = v.Code().ImportPath(v.project.Repo, dir)
	if v.old.API.SSA {
		return &report.Error{
			What: v.old.Kind + " has typed apply configurations, and its code uses those of " + o.From, Where: "--from " + o.From,
			Hint: "nothing was changed; create version does not move these yet: create the version with create api, and copy the types by hand",
			Next: fmt.Sprintf("slipway create api --group %s --version %s --kind %s --resource --controller=false --ssa", shellword.Quote(o.Group), o.Version, o.Kind),
		}
	}
	return v.checkHub()
}

// unknown is the refusal of a version that does not exist.
func (v *planner) unknown() error {
	o := v.options
	e := &report.Error{What: fmt.Sprintf("the project has no types of %s %s in the group %q", o.From, o.Kind, o.Group), Where: "--from " + o.From,
		Next: fmt.Sprintf("slipway create api --group %s --version %s --kind %s --resource --controller", shellword.Quote(o.Group), o.From, o.Kind)}
	var have []string
	for _, r := range v.project.Resources {
		if r.Group == o.Group && r.Kind == o.Kind && v.project.Own(r) {
			have = append(have, r.Version)
		}
	}
	if len(have) > 0 {
		e.Hint = "the kind has " + strings.Join(have, ", ")
		v.old = project.Resource{Group: o.Group, Kind: o.Kind}
		e.Next = o.again(have[len(have)-1])
		if hub := v.hub(); hub != nil && o.Storage {
			e.Next = o.again(hub.Version)
		}
	}
	return e
}

// again is the command with another version to copy.
func (o Options) again(from string) string {
	text := fmt.Sprintf("slipway create version %s --from %s --group %s --kind %s", o.Version, from, shellword.Quote(o.Group), o.Kind)
	if !o.Storage {
		text += " --storage=false"
	}
	return text
}

// hub returns the version to which the kind's others are converted; nil if there is none.
func (v *planner) hub() *project.Resource {
	i := slices.IndexFunc(v.project.Resources, func(r project.Resource) bool {
		return r.Group == v.old.Group && r.Kind == v.old.Kind && r.Webhooks != nil && r.Webhooks.Conversion
	})
	if i < 0 {
		return nil
	}
	return &v.project.Resources[i]
}

// checkHub refuses to make a copy of a spoke the hub: the code uses the present hub.
func (v *planner) checkHub() error {
	hub := v.hub()
	if hub == nil || hub.Version == v.old.Version || !v.options.Storage {
		return nil
	}
	return &report.Error{
		What: fmt.Sprintf("%s is a spoke, and the code uses the hub, %s", v.old.Version, hub.Version), Where: "--from " + v.old.Version,
		Hint: "copy the hub, or add --storage=false for another spoke", Next: v.options.again(hub.Version),
	}
}

// addKind adds the new version to PROJECT and to the manager, and gives it what the old one had.
func (v *planner) addKind() error {
	if err := projectfile.Write(v.Plan, v.project); err != nil {
		return err
	}
	v.Proceed()
	options := newapi.Options{
		Group: v.new.Group, Version: v.new.Version, Kind: v.new.Kind, Resource: true, Namespaced: v.old.API.Namespaced,
		HasSample: v.hasSample, SkipWiring: v.options.SkipWiring, Manager: v.options.Manager,
	}
	if err := newapi.Add(v.Plan, v.project, options); err != nil {
		return err
	}
	if !v.options.Storage {
		return nil
	}
	return v.moveEntry()
}

// moveEntry lists in PROJECT for the new version what the old one had.
func (v *planner) moveEntry() error {
	old, now := v.entry(v.old.Version), v.entry(v.new.Version)
	now.Controller, now.Controllers = now.Controller || old.Controller, append(now.Controllers, old.Controllers...)
	old.Controller, old.Controllers = false, nil
	switch {
	case now.Webhooks == nil:
		now.Webhooks, old.Webhooks = old.Webhooks, nil
	case old.Webhooks != nil && old.Webhooks.Conversion:
		hub, rest := *now.Webhooks, *old.Webhooks
		hub.Conversion, hub.Spoke, rest.Conversion, rest.Spoke = true, rest.Spoke, false, nil
		now.Webhooks, old.Webhooks = &hub, &rest
	}
	if err := newapi.MoveImage(v.project, v.old, v.new); err != nil {
		return err
	}
	return projectfile.Write(v.Plan, v.project)
}

func (v *planner) entry(version string) *project.Resource {
	return v.project.Lookup(v.old.Group, version, v.old.Kind)
}

// addConversion adds the conversion between the hub and the versions that have none.
func (v *planner) addConversion() error {
	hub, spoke := v.new.Version, v.old.Version
	if !v.options.Storage {
		hub, spoke = v.old.Version, v.new.Version
		if other := v.hub(); other != nil {
			hub = other.Version
		}
	}
	if err := errors.Join(v.dropHub(), v.dropConversions()); err != nil {
		return err
	}
	v.Proceed()
	return newwebhook.Add(v.Plan, v.project, newwebhook.Options{
		Group: v.old.Group, Version: hub, Kind: v.old.Kind, Conversion: true, Spokes: v.spokes(hub, spoke), Renamed: v.renamed, SkipWiring: v.options.SkipWiring, Manager: v.options.Manager,
	})
}

// spokes are the versions that the hub converts, the new one among them.
func (v *planner) spokes(hub, more string) []string {
	spokes := []string{more}
	if r := v.entry(hub); r.Webhooks != nil {
		spokes = append(slices.Clone(r.Webhooks.Spoke), more)
	}
	slices.Sort(spokes)
	return slices.Compact(spokes)
}

// dropConversions has conversions of other spokes written anew that are as they were scaffolded, if fields are renamed:
// structs that were converted as a whole differ now.
func (v *planner) dropConversions() error {
	for _, r := range v.project.Resources {
		if len(v.renamed) == 0 || r.Group != v.old.Group || r.Kind != v.old.Kind || r.Version == v.old.Version || r.Version == v.new.Version || !v.project.Own(r) {
			continue
		}
		file := path.Join(v.project.APIDir(r), r.SingularName()+"_conversion.go")
		c, err := v.Find(file)
		if err != nil {
			return err
		}
		if scaffolded, ours := v.Base().File(file); ours && c.There() && bytes.Equal(scaffolded, c.After()) {
			if err := v.Remove(file); err != nil {
				return err
			}
		}
	}
	return nil
}

// dropHub takes from the old version that it is the hub: it gets the file of a spoke.
func (v *planner) dropHub() error {
	file := path.Join(v.project.APIDir(v.old), v.old.SingularName()+"_conversion.go")
	c, err := v.Find(file)
	if err != nil || !c.There() || !v.options.Storage {
		return err
	}
	parsed, _, err := gofile.Parse(file, c.After(), 0)
	if err != nil {
		return err
	}
	for _, decl := range parsed.Decls {
		d, ok := decl.(*ast.FuncDecl)
		if !ok || d.Name.Name != "Hub" {
			return &report.Error{
				Class: report.BadProject,
				What:  "the file holds more than that " + v.old.Version + " is the hub", Where: file,
				Hint: "nothing was changed; move all but the method Hub to another file, and run the command again",
			}
		}
	}
	return v.Remove(file)
}
