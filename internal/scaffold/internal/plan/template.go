package plan

import (
	"fmt"
	"go/format"
	"path"

	"github.com/slipway-dev/slipway/internal/release"
	"github.com/slipway-dev/slipway/internal/scaffold/templates"
)

// CreateTree plans a file for every template below dir, at the same path; see [Plan.Create].
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

// CreateFrom is [Plan.Create] with the content of a template.
func (p *Plan) CreateFrom(name, file string, data any) error {
	return p.from(p.Create, name, file, data)
}

// RequireFrom is [Plan.Require] with the content of a template.
func (p *Plan) RequireFrom(name, file string, data any) error {
	return p.from(p.Require, name, file, data)
}

// from renders a template. It formats Go files, because templates that assemble code do not keep gofmt's format.
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

// MadeBy sets the version of slipway. Files that install slipway on other machines name that release, so that a project
// is built alike everywhere. If the version is no release, they name the branch.
func (p *Plan) MadeBy(version string) {
	p.release = ""
	if release.IsVersion(version) {
		p.release = version
	}
}

// Release is the release that is planning, or "" if it is none.
func (p *Plan) Release() string { return p.release }
