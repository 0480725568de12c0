package plan

import (
	"fmt"
	"go/format"
	"path"

	"github.com/slipway-dev/slipway/internal/release"
	"github.com/slipway-dev/slipway/internal/scaffold/templates"
)

// CreateTree plans a file for every template below dir, at the same path.
func (p *Plan) CreateTree(dir string, data any) error {
	names, err := templates.Below(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := p.CreateFrom(path.Join(dir, name), name, data); err != nil {
			return err
		}
	}
	return nil
}

// CreateFrom plans a file from a template.
func (p *Plan) CreateFrom(name, file string, data any) error {
	return p.from(p.Create, name, file, data)
}

// RequireFrom plans a file from a template that several parts of a project share.
func (p *Plan) RequireFrom(name, file string, data any) error {
	return p.from(p.Require, name, file, data)
}

// from plans a file from a template. Go files get Go's format, which a template that puts code together does not keep.
func (p *Plan) from(plan func(file string, content []byte) error, name, file string, data any) error {
	if p.NamesOnly() {
		return plan(file, nil)
	}
	content, err := templates.Render(name, data)
	if err != nil {
		return err
	}
	if path.Ext(file) == ".go" {
		if content, err = format.Source(content); err != nil {
			return fmt.Errorf("format %s: %w", file, err)
		}
	}
	return plan(file, content)
}

// MadeBy says which slipway plans. Files that bring slipway to other machines name that release then, so that a project
// is built alike everywhere; a slipway that is of none has them name the branch.
func (p *Plan) MadeBy(version string) {
	p.release = ""
	if release.IsVersion(version) {
		p.release = version
	}
}

// Release is the release of the slipway that plans, and "" for one that is of none.
func (p *Plan) Release() string { return p.release }
