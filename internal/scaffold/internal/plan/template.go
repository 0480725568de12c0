package plan

import (
	"fmt"
	"go/format"
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
	content, err := rendered(name, file, data)
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
	content, err := rendered(name, file, data)
	if err != nil {
		return err
	}
	return p.Require(file, content)
}

// rendered is a file from a template. Go files get Go's format, which a template that puts code together does not keep.
func rendered(name, file string, data any) ([]byte, error) {
	content, err := templates.Render(name, data)
	if err != nil || path.Ext(file) != ".go" {
		return content, err
	}
	formatted, err := format.Source(content)
	if err != nil {
		return nil, fmt.Errorf("format %s: %w", file, err)
	}
	return formatted, nil
}
