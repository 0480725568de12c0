package plan

import (
	"path"

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
	if p.NamesOnly() {
		return p.Create(file, nil)
	}
	content, err := templates.Render(name, data)
	if err != nil {
		return err
	}
	return p.Create(file, content)
}

// RequireFrom plans a file from a template that several parts of a project share.
func (p *Plan) RequireFrom(name, file string, data any) error {
	if p.NamesOnly() {
		return p.Require(file, nil)
	}
	content, err := templates.Render(name, data)
	if err != nil {
		return err
	}
	return p.Require(file, content)
}
