package newversion

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/deletion"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/fieldcopy"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/kind"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/newwebhook"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projectfile"
	"github.com/slipway-dev/slipway/internal/shellword"
	"github.com/slipway-dev/slipway/project"
)

// A Deletion has the flags of `delete version`.
type Deletion struct {
	Group, Version, Kind string
	To                   string            // the version that the code uses then; default: the only other one, or the hub
	Rename               map[string]string // names of fields in JSON, and those in that version, beside those of the conversion
	WithChanges          bool              // delete types and conversions that the user changed, too
	Manager              string            // folder of the manager's main package, if there are several
}

// Delete plans the deletion of a version. It returns the Go names of renamed fields, too: the plan compiles after
// [RenameUses]. A missing version is no error; the plan has nothing to do.
func Delete(folder *fileview.Folder, d Deletion) (*plan.Plan, []fieldcopy.Renamed, error) {
	if err := d.check(); err != nil {
		return nil, nil, err
	}
	p, file, err := projectfile.Open(folder)
	if err != nil {
		return nil, nil, err
	}
	if err := p.Code().Choose(d.Manager); err != nil {
		return nil, nil, err
	}
	old := file.Lookup(d.Group, d.Version, d.Kind)
	if old == nil || !file.Own(*old) {
		return p, nil, deletion.Missing(p, file, d.options())
	}
	to, err := d.target(file)
	if err != nil {
		return nil, nil, err
	}
	v := &planner{Plan: p, project: file, deletion: &d, old: *old, new: *to, options: Options{
		Group: d.Group, Version: to.Version, Kind: d.Kind, From: d.Version, Rename: d.Rename, Storage: true, Manager: d.Manager,
	}}
	for _, step := range []func() error{v.findOld, v.findRenamed, v.unconvert, v.dropOldPaths, v.refuseChanged, v.findWebhooks, v.moveSamples, v.moveUsers, v.removeTypes, v.moveEntry, v.removeVersion, v.moveHub} {
		if err := step(); err != nil {
			return nil, nil, err
		}
	}
	v.warn()
	return p, v.renamed, p.Finish()
}

// check refuses invalid names without reading the project.
func (d Deletion) check() error {
	if err := kind.CheckNames(d.Group, d.Version, d.Kind, ""); err != nil || d.To == "" {
		return err
	}
	return projectfile.Invalid("--to", project.ValidateVersion(d.To))
}

// options are those of a deletion that deletes what only this version needs.
func (d Deletion) options() deletion.Options {
	return deletion.Options{Group: d.Group, Version: d.Version, Kind: d.Kind, WithChanges: d.WithChanges, Manager: d.Manager}
}

// again is the command with other flags.
func (d Deletion) again(flags string) string {
	return strings.TrimSpace(fmt.Sprintf("slipway delete version %s --group %s --kind %s %s", d.Version, shellword.Quote(d.Group), d.Kind, flags))
}

// target returns the version that takes the place of the deleted one. It refuses to guess.
func (d Deletion) target(file *project.Project) (*project.Resource, error) {
	var others []*project.Resource
	var names []string
	var hub *project.Resource
	for i, r := range file.Resources {
		if r.Group != d.Group || r.Kind != d.Kind || r.Version == d.Version || !file.Own(r) {
			continue
		}
		others, names = append(others, &file.Resources[i]), append(names, r.Version)
		if r.Webhooks != nil && r.Webhooks.Conversion {
			hub = &file.Resources[i]
		}
	}
	at := slices.Index(names, d.To)
	switch {
	case len(others) == 0:
		return nil, &report.Error{
			What: fmt.Sprintf("%s is the only version of %s", d.Version, d.Kind), Where: "VERSION", Hint: "nothing was changed; without it, the kind goes as a whole",
			Next: fmt.Sprintf("slipway delete api --group %s --version %s --kind %s --dry-run", shellword.Quote(d.Group), d.Version, d.Kind),
			Code: report.UsageCode,
		}
	case at >= 0:
		return others[at], nil
	case d.To != "":
		return nil, &report.Error{What: fmt.Sprintf("%s has no other version %s", d.Kind, d.To), Where: "--to " + d.To, Hint: "nothing was changed; it has " + strings.Join(names, ", "), Next: d.again("--to " + names[0])}
	case len(others) == 1:
		return others[0], nil
	case hub != nil:
		return hub, nil
	}
	return nil, &report.Error{
		What: fmt.Sprintf("the code of %s may use %s instead", d.Kind, strings.Join(names, " or ")), Where: "--to",
		Hint: "nothing was changed; name the version that the code is to use, which becomes the hub if " + d.Version + " is it", Next: d.again("--to " + names[0]),
	}
}

// unconvert plans that the hub is converted to and from the remaining version no more, if the old version is the hub.
func (v *planner) unconvert() error {
	if v.old.Webhooks == nil || !slices.Contains(v.old.Webhooks.Spoke, v.new.Version) {
		return nil
	}
	if err := deletion.Unconvert(v.Plan, v.project, v.new, v.deletion.options()); err != nil {
		return err
	}
	v.old, v.unconverted = *v.entry(v.old.Version), true
	v.Proceed()
	return nil
}

// removeVersion plans the deletion of what is left of the version, with its place in PROJECT.
func (v *planner) removeVersion() error {
	if err := v.moveStored(); err != nil {
		return err
	}
	v.Proceed()
	if err := deletion.Remove(v.Plan, v.project, *v.entry(v.old.Version), v.deletion.options()); err != nil {
		return err
	}
	if v.webhooks == nil || len(v.webhooks.Parts) == 1 {
		return nil
	}
	return v.Insert(v.project.WebhookSuiteTestFile(v.new), newwebhook.SuitePieces(v.project, v.new))
}

// moveStored marks the new version as the stored one if several versions are left, and none of them is marked.
func (v *planner) moveStored() error {
	left := 0
	for _, r := range v.project.Resources {
		if r.Group != v.old.Group || r.Kind != v.old.Kind || r.Version == v.old.Version || !v.project.Own(r) {
			continue
		}
		if left++; kind.IsStored(v.after(projectfile.TypesFile(v.Plan, v.project, r)), r.Kind) {
			return nil
		}
	}
	if left < 2 {
		return nil
	}
	return v.Edit(projectfile.TypesFile(v.Plan, v.project, v.new), kind.Stored(v.new.Kind))
}

// moveHub makes the new version the hub of the versions that are left, if the old one was it.
func (v *planner) moveHub() error {
	now := v.entry(v.new.Version)
	if now.Webhooks == nil || !now.Webhooks.Conversion || v.old.Webhooks == nil || !v.old.Webhooks.Conversion {
		return nil
	}
	if err := v.dropConversions(); err != nil {
		return err
	}
	v.Proceed()
	return newwebhook.Add(v.Plan, v.project, newwebhook.Options{
		Group: v.new.Group, Version: v.new.Version, Kind: v.new.Kind, Conversion: true, Spokes: slices.Clone(now.Webhooks.Spoke), Renamed: v.renamed, Manager: v.options.Manager,
	})
}

const unserved = "+kubebuilder:unservedversion"

// warn leaves to the user what clusters and clients need before they get the change.
func (v *planner) warn() {
	old, now, kind := v.old.Version, v.new.Version, v.old.Kind
	if types := projectfile.TypesFile(v.Plan, v.project, v.new); bytes.Contains(v.after(types), []byte(unserved)) {
		v.Leave(fmt.Sprintf("%s: // %s keeps clusters from serving %s, which the code uses now", types, unserved, now))
	}
	v.Leave(fmt.Sprintf("clients: those that use %s of %s fail once a cluster has the CRD without it", old, kind))
	v.Leave(fmt.Sprintf("clusters: they refuse this CRD while objects may be stored as %s. slipway deploy stores these objects anew first. "+
		"Before you apply the CRD another way, have the old CRD store %s, then run slipway migrate %s --to %s", old, now, kind, now))
}
