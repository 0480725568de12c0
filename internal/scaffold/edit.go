package scaffold

import (
	"github.com/slipway-dev/slipway/project"
)

// An Edit changes the shape of a project that is there, such as [Relicense]. It plans
// only what is missing, so that a second run changes nothing.
type Edit func(*editPlan) error

// An editPlan is the planning of a project's edits. What they change in project is
// written to PROJECT at the end.
type editPlan struct {
	*Plan
	project *project.Project
}

// EditProject plans edits of the project in folder root, all in one: either each of them
// can be done or none is.
func EditProject(root string, edits ...Edit) (*Plan, error) {
	file, err := loadProject(root)
	if err != nil {
		return nil, err
	}
	plan, err := newPlan(root)
	if err != nil {
		return nil, err
	}
	e := &editPlan{Plan: plan, project: file}
	for _, edit := range edits {
		if err := edit(e); err != nil {
			return nil, err
		}
	}
	data, err := file.Marshal()
	if err != nil {
		return nil, err
	}
	if err := plan.write(project.FileName, data); err != nil {
		return nil, err
	}
	return plan, plan.finish()
}

// Relicense changes the header that generated and scaffolded Go files begin with. Files
// that are there keep theirs, except for those that are generated again.
func Relicense(l License) Edit {
	return func(e *editPlan) error {
		header, err := l.header(e.project.Name)
		if err != nil {
			return err
		}
		content, err := render("init/"+boilerplateFile, map[string]any{"License": header})
		if err != nil {
			return err
		}
		there, err := e.exists(boilerplateFile)
		if err != nil {
			return err
		}
		if !there {
			return e.create(boilerplateFile, content)
		}
		return e.edit(boilerplateFile, func(string, []byte) ([]byte, error) { return content, nil })
	}
}
