package scaffold

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"text/template"
)

//go:embed all:templates
var templates embed.FS

// render fills in one template, named by its path below templates/.
func render(name string, data any) ([]byte, error) {
	text, err := templates.ReadFile(path.Join("templates", name+".tmpl"))
	if err != nil {
		return nil, fmt.Errorf("render %s: %w", name, err)
	}
	t, err := template.New(name).Option("missingkey=error").Parse(string(text))
	if err != nil {
		return nil, fmt.Errorf("render %s: %w", name, err)
	}
	var out bytes.Buffer
	if err := t.Execute(&out, data); err != nil {
		return nil, fmt.Errorf("render %s: %w", name, err)
	}
	return out.Bytes(), nil
}

// createTree plans a file for every template below dir, at the same path.
func (p *Plan) createTree(dir string, data any) error {
	root := path.Join("templates", dir)
	return fs.WalkDir(templates, root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		file := strings.TrimSuffix(strings.TrimPrefix(name, root+"/"), ".tmpl")
		return p.createFrom(path.Join(dir, file), file, data)
	})
}

// createFrom plans a file from a template.
func (p *Plan) createFrom(name, file string, data any) error {
	if p.namesOnly() {
		return p.create(file, nil)
	}
	content, err := render(name, data)
	if err != nil {
		return err
	}
	return p.create(file, content)
}

// requireFrom plans a file from a template that several parts of a project share.
func (p *Plan) requireFrom(name, file string, data any) error {
	if p.namesOnly() {
		return p.require(file, nil)
	}
	content, err := render(name, data)
	if err != nil {
		return err
	}
	return p.require(file, content)
}
