// Package projectfile reads and plans the PROJECT file of an existing project. It explains to the user mistakes in
// PROJECT and in names.
package projectfile

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/fileerror"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/gomod"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/spelling"
	"github.com/slipway-dev/slipway/project"
)

const seeProject = "git diff -- " + project.FileName

// Load reads PROJECT, corrected by what the code shows. It refuses unknown layouts.
func Load(folder *fileview.Folder) (*project.Project, error) {
	_, file, err := Look(folder)
	return file, err
}

// Read reads PROJECT as it is written, with any layout. Version 2 records no name: then it follows from the code.
func Read(folder *fileview.Folder) (*project.Project, error) {
	code := plan.Reading(folder).Code()
	file, err := read(folder.Root(), code)
	if err != nil {
		return nil, err
	}
	named := *file
	named.Name = code.ProjectName()
	return &named, nil
}

func read(root string, code *codebase.Codebase) (*project.Project, error) {
	file, err := code.Project()
	var fe *project.FieldError
	switch {
	case errors.As(err, &fe):
		return nil, damaged(fe)
	case err != nil:
		return nil, fileerror.Unreadable(project.FileName, err)
	case file == nil:
		return nil, &report.Error{Class: report.BadProject, What: "there is no project in this folder", Where: filepath.Join(root, project.FileName), Hint: "create one with init", Next: "slipway init", Err: fs.ErrNotExist}
	}
	return file, nil
}

// Open is [Load] that also starts a plan for the project. It refuses unknown keys in PROJECT.
func Open(folder *fileview.Folder) (*plan.Plan, *project.Project, error) {
	p, err := plan.New(folder)
	if err != nil {
		return nil, nil, err
	}
	written, err := read(p.Root(), p.Code())
	if err != nil {
		return nil, nil, err
	}
	file, err := described(p, written)
	if err != nil {
		return nil, nil, err
	}
	return p, file, refuseUnknown(written)
}

// Look is [Open] for callers that change nothing: see [plan.Reading].
func Look(folder *fileview.Folder) (*plan.Plan, *project.Project, error) {
	p := plan.Reading(folder)
	written, err := read(p.Root(), p.Code())
	if err != nil {
		return nil, nil, err
	}
	file, err := described(p, written)
	return p, file, err
}

// described returns the project as its code shows it.
func described(p *plan.Plan, written *project.Project) (*project.Project, error) {
	if err := checkLayout(written); err != nil {
		return written, err
	}
	if _, err := gomod.Read(p.Code().View()); err != nil { // imports in the code begin with its path
		return nil, err
	}
	return p.Code().Described()
}

// damaged explains a mistake in PROJECT.
func damaged(fe *project.FieldError) error {
	what := fe.Summary()
	if fe.Field == "" { // the mistake concerns the whole file
		what = "the project's description " + fe.Problem
	}
	return &report.Error{
		Class: report.BadProject,
		What:  what, Where: report.Position{File: project.FileName, Line: max(fe.Line, 1), Column: fe.Column}.String(),
		Hint: "expected " + cmp.Or(fe.Expected, "a project description") + "; nothing was changed", Next: seeProject,
	}
}

// terseExample shows how version 2 of PROJECT lists kinds.
const terseExample = "resources:\n- group: batch\n  version: v1\n  kind: CronJob"

func checkLayout(file *project.Project) error {
	e := &report.Error{Class: report.BadProject, Next: seeProject}
	key := ""
	switch {
	case file.Version == "1":
		key, e.What = "version", "slipway cannot change a project with version 1 of PROJECT, which records no kinds"
		e.Hint, e.Next = `commands that only read the project work, such as generate, install and deploy; to change it, set version: "2" and list the kinds:`+"\n"+terseExample, ""
	case file.Repo == "":
		e.What, e.Hint = "repo is missing", "expected a line such as `repo: example.com/my-operator`, the module path of go.mod"
	case len(file.Layout) == 0 && !file.KnownLayout():
		e.What, e.Hint = "layout is missing", "expected a line such as `layout: "+project.Layout+"`"
	case !file.KnownLayout():
		key, e.What = "layout", "unknown layout "+strings.Join(file.Layout, ", ")
		e.Hint = "expected " + project.Layout + ", or go.kubebuilder.io/v3 or v2"
	default:
		return nil
	}
	e.Where = fmt.Sprintf("%s:%d", project.FileName, max(file.Line(key), 1))
	return e
}

// Write plans PROJECT with the differences from the project that [Open] returned. Other entries stay as they are
// written, even where the code shows something else, unless the layout changes.
func Write(p *plan.Plan, file *project.Project) error {
	written, err := p.Code().Project()
	if err != nil {
		return err
	}
	out := *file
	if written != nil {
		before, err := p.Code().Described()
		if err != nil {
			return err
		}
		out.Resources = slices.Clone(file.Resources)
		for i, r := range out.Resources {
			was := before.Lookup(r.Group, r.Version, r.Kind)
			switch as := written.Lookup(r.Group, r.Version, r.Kind); {
			case was == nil:
			case reflect.DeepEqual(*was, r) && file.MultiGroup == before.MultiGroup:
				out.Resources[i] = *as
			case was.Path == r.Path && written.APIDir(*as) == file.APIDir(r):
				out.Resources[i].Path = as.Path
			}
		}
		if out.Repo == before.Repo {
			out.Repo = written.Repo
		}
	}
	data, err := out.Marshal()
	if err != nil {
		return err
	}
	return p.Write(project.FileName, data)
}

// Edit plans several edits of a project together: all are possible, or none is planned.
func Edit(folder *fileview.Folder, edits ...func(*plan.Plan, *project.Project) error) (*plan.Plan, error) {
	p, file, err := Open(folder)
	if err != nil {
		return nil, err
	}
	for _, edit := range edits {
		if err := edit(p, file); err != nil {
			return nil, err
		}
	}
	if err := Write(p, file); err != nil {
		return nil, err
	}
	return p, p.Finish()
}

// RefuseTerse refuses what version 2 of PROJECT cannot record: it has only group, version and kind.
func RefuseTerse(file *project.Project, what string) error {
	if !file.IsV2() {
		return nil
	}
	return &report.Error{
		Class: report.BadProject,
		What:  fmt.Sprintf("PROJECT of version %s does not record %s", file.Version, what),
		Where: fmt.Sprintf("%s:%d", project.FileName, max(file.Line("version"), 1)),
		Hint:  "nothing was changed; version 3 records them, with a layout and the fields of each kind",
	}
}

// Invalid explains a mistake in a flag's value.
func Invalid(flag string, err error) error {
	fe, is := errors.AsType[*project.FieldError](err)
	if !is {
		return err
	}
	return &report.Error{What: fe.Summary(), Where: flag, Hint: "expected " + fe.Expected}
}

// InvalidName is [Invalid] for the flag that has the name of the mistaken field.
func InvalidName(err error) error {
	if fe, is := errors.AsType[*project.FieldError](err); is {
		return Invalid("--"+fe.Field, err)
	}
	return err
}

// refuseUnknown refuses to change a project whose PROJECT has an unknown key, as kubebuilder does. A misspelt key would
// be ignored, and the code would be for another project.
func refuseUnknown(file *project.Project) error {
	unknown := file.Unknown()
	if unknown == nil {
		return nil
	}
	hint := "expected one of " + strings.Join(unknown.Known, ", ") + "."
	if near := nearest(unknown.Key, unknown.Known); near != "" {
		hint = "did you mean " + near + "?"
	}
	return &report.Error{
		Class: report.BadProject,
		What:  unknown.Summary(), Where: report.Position{File: project.FileName, Line: unknown.Line, Column: unknown.Column}.String(),
		Hint: hint + " Nothing was changed.", Next: seeProject,
	}
}

// nearest returns the word that a misspelt one may mean, or "".
func nearest(word string, words []string) string {
	return spelling.Nearest(word, words, min(2, len(word)/3)) // in a short word, most letters must match
}
