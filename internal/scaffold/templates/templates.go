// Package templates holds what is scaffolded, as trees of templates: init mirrors a new project, api is what
// an API adds, deployimage an API whose controller runs an image, webhook what webhooks add, and features
// has a tree for each kustomize component.
package templates

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"strings"
	"text/template"
)

//go:embed all:api all:deployimage all:features all:features-ci all:features-e2e all:features-migration all:features-names all:features-runbooks all:features-tracing all:features-watch all:init all:modules all:webhook *.tmpl
var files embed.FS

// Render fills in one template, named by its path below templates/.
func Render(name string, data any) ([]byte, error) {
	text, err := Raw(name)
	if err != nil {
		return nil, fmt.Errorf("render %s: %w", name, err)
	}
	t, err := template.New(name).Option("missingkey=error").Funcs(template.FuncMap{"elements": elements}).Parse(string(text))
	if err != nil {
		return nil, fmt.Errorf("render %s: %w", name, err)
	}
	var out bytes.Buffer
	if err := t.Execute(&out, data); err != nil {
		return nil, fmt.Errorf("render %s: %w", name, err)
	}
	return out.Bytes(), nil
}

// elements makes a path with slashes the arguments of filepath.Join.
func elements(path string) string {
	return `"` + strings.ReplaceAll(path, "/", `", "`) + `"`
}

// Raw returns the text of a template.
func Raw(name string) ([]byte, error) {
	return files.ReadFile(name + ".tmpl")
}

// Below lists the templates below a folder, by their paths below it.
func Below(dir string) ([]string, error) {
	var names []string
	err := fs.WalkDir(files, dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, strings.TrimSuffix(strings.TrimPrefix(name, dir+"/"), ".tmpl"))
		}
		return err
	})
	return names, err
}
