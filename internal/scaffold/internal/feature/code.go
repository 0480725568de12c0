package feature

import (
	"fmt"
	"path"

	"github.com/slipway-dev/slipway/internal/features"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/gomod"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/manager"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/piece"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/undo"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/wiring"
	"github.com/slipway-dev/slipway/internal/scaffold/templates"
)

func (p *planner) planCode(row features.Feature) error {
	code := row.Adds
	if code.Call == "" {
		return p.planCodeFiles(code.Files)
	}
	main, err := manager.Find(p.Plan, p.project)
	if err != nil {
		return err
	}
	if there, err := p.Exists(manager.FlagsFile); err != nil {
		return err
	} else if !there && code.ForOthers != "" {
		return &report.Error{Class: report.BadProject, What: code.ForOthers, Where: main.Place(), Hint: code.OthersHint}
	}
	if err := p.planCodeFiles(code.Files); err != nil {
		return err
	}
	if err := main.Insert(p.Plan, func(src []byte) []plan.Piece { return p.managerCall(src, code) }); err != nil {
		return err
	}
	for i, module := range code.Modules {
		if i == 0 && code.Pinned {
			if err := gomod.PinFeature(p.Plan, string(row.Name), module); err != nil {
				return err
			}
		}
		if err := p.Insert("go.mod", plan.These(gomod.DirectUse{Module: module})); err != nil {
			return err
		}
	}
	return nil
}

func (p *planner) planCodeFiles(files []features.File) error {
	versions, data := p.Code().Versions(), p.data()
	data["TestContext"], data["TestImportsContext"] = versions.TestContext(), versions.TestImportsContext()
	data["Release"] = p.Release()
	for _, file := range codeFiles(files) {
		if err := p.RequireFrom(file.Template, file.Path, data); err != nil {
			return err
		}
	}
	return nil
}

// codeFiles returns the files, with each folder of templates replaced by the files in it.
func codeFiles(of []features.File) (files []features.File) {
	for _, file := range of {
		names, err := templates.Below(file.Template)
		if err != nil { // a file
			files = append(files, file)
		}
		for _, name := range names {
			files = append(files, features.File{Template: path.Join(file.Template, name), Path: path.Join(file.Path, name)})
		}
	}
	return files
}

// managerPackage returns the name under which src imports internal/manager, and the import path.
func (p *planner) managerPackage(src []byte) (name, pkg string) {
	pkg = p.project.Repo + "/internal/manager"
	return gofile.ImportsOf(src).Name(pkg, "manager"), pkg
}

// managerCall returns the pieces that call the feature's function in main.go and handle its error.
func (p *planner) managerCall(src []byte, code features.Code) []plan.Piece {
	name, pkg := p.managerPackage(src)
	key := name + "." + code.Call + "("
	call := fmt.Sprintf("if err := %s%s); err != nil {\n%s}\n", key, wiring.Manager(src), manager.Failure(p.Plan, src, gofile.ImportsOf(src), code.Doing))
	return []plan.Piece{piece.UsedImportAt(p.project.Repo, name, pkg), piece.Fragment{Marker: "builder", Code: call, Key: key}}
}

// withoutCode removes a feature's code, which does nothing without the feature's configuration. Code that the user
// changed stays.
func (p *planner) withoutCode(f features.Name) error {
	if p.Recording() {
		return nil
	}
	if there, err := p.anyOf(p.parts(f).files); err != nil || !there {
		return err
	}
	part := &plan.Needs{}
	recording := &planner{Plan: p.Record(part), project: p.project, header: p.header}
	if err := runAll(recording.parts(f).code); err != nil {
		return err
	}
	return undo.Part(p.Plan, part, &plan.Needs{}, false, "delete it if no file needs it")
}

func (p *planner) anyOf(files []string) (bool, error) {
	for _, file := range files {
		if there, err := p.Exists(file); err != nil || there {
			return there, err
		}
	}
	return false, nil
}
