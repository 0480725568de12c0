package chart

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/chart/internal/model"
	"github.com/slipway-dev/slipway/internal/chart/internal/settings"
	"github.com/slipway-dev/slipway/internal/chart/internal/template"
	"github.com/slipway-dev/slipway/internal/kustomization"
)

// Options are written to Chart.yaml.
type Options struct {
	Name       string // a DNS label
	Version    string // of the chart, as semantic versioning defines it
	AppVersion string // of the operator
}

// A File is a file of a chart. Path uses slashes and is relative to the chart's folder.
type File struct {
	Path    string
	Content []byte
}

// A Chart is the result of [Generate].
type Chart struct {
	Files     []File   // sorted by path
	Namespace string   // that the kustomization deploys to; "" if it sets none
	Warnings  []string // what users should know before they install the chart
}

// Beginning is the kustomization's name prefix without its "-"; "" if it has no such prefix. A release has the names
// that kustomize builds if chart and release have that name, or with that as fullnameOverride.
func Beginning(from Source) string { return model.Beginning(from.Folder, from.Files) }

// A Source is the kustomization that a chart is made of.
type Source struct {
	Folder string              // folder of the kustomization
	Files  kustomization.Files // the file system to read it through
}

// Generate makes the chart of a kustomization. The same kustomization gives the same files.
func Generate(ctx context.Context, from Source, o Options) (*Chart, error) {
	g, _, err := generate(ctx, from, o)
	if err != nil {
		return nil, err
	}
	return &Chart{Files: g.files, Namespace: g.model.Namespace, Warnings: g.warnings}, nil
}

// generate also returns the settings of values.yaml.
func generate(ctx context.Context, from Source, o Options) (*generator, *settings.Values, error) {
	m, err := model.Load(ctx, from.Folder, from.Files)
	if err != nil {
		return nil, nil, err
	}
	g := &generator{model: m, Options: o}
	g.warnings = g.warn()
	account := settings.DefaultAccount(m)
	values := settings.Take(m, o.Name)
	text, err := values.YAML()
	if err != nil {
		return nil, nil, err
	}
	g.add("values.yaml", text)
	g.add("Chart.yaml", g.chart())
	g.add(".helmignore", ignored)
	g.add("templates/_helpers.tpl", g.helpers(account))
	g.add("templates/NOTES.txt", g.notes())
	g.addTemplates()
	slices.SortFunc(g.files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return g, values, nil
}

type generator struct {
	Options
	model    *model.Model
	files    []File
	warnings []string
}

func (g *generator) add(path, text string) {
	g.files = append(g.files, File{path, []byte(text)})
}

// addTemplates adds a file for all objects of one name and subject.
func (g *generator) addTemplates() {
	marks := template.Marks{
		g.prefixMark(),
		{Text: model.NamespaceMark, Action: ".Release.Namespace"},
	}
	texts := map[string][]string{}
	for _, d := range g.model.Documents {
		file := path.Join("templates", folder(d), fileName(d.Name)+".yaml")
		texts[file] = append(texts[file], template.Document(d.Object, d.When, marks))
	}
	for file, documents := range texts {
		g.add(file, strings.Join(documents, "---\n"))
	}
}

// folder is the subfolder of templates for an object, by its subject.
func folder(d model.Document) string {
	switch d.Group {
	case "apiextensions.k8s.io":
		return "crd"
	case "rbac.authorization.k8s.io":
		return "rbac"
	case "apps", "batch", "autoscaling", "policy":
		return "manager"
	case "admissionregistration.k8s.io":
		return "webhook"
	case "cert-manager.io":
		return "certmanager"
	case "monitoring.coreos.com":
		return "prometheus"
	case "networking.k8s.io":
		return "network-policy"
	}
	switch {
	case d.Kind == "ServiceAccount" && d.Group == "":
		return "rbac"
	case d.Feature != "":
		return d.Feature
	}
	return "extra"
}

// fileName replaces characters that file names cannot contain, such as colons.
func fileName(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(`:/\*?"<>|`, r) {
			return '-'
		}
		return r
	}, name)
}
