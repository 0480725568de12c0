package codebase

import (
	"path"
	"strings"

	"github.com/slipway-dev/slipway/internal/generate/source"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/project"
)

// A Webhook is an admission webhook that a marker in the project's code declares.
type Webhook struct {
	Path     string // URL path at the manager, such as /validate-batch-example-com-v1-cronjob; "" with a URL
	Mutating bool
	// Elsewhere reports whether the marker names a service, which need not be the manager's.
	Elsewhere bool
	// Definitions are the "resource.group" names of its objects, as CRDs are named. Patterns have none.
	Definitions []string
	Verbs       []string
	File        string
	Line        int
}

// Where returns "file:line" of the marker.
func (w Webhook) Where() string { return report.Position{File: w.File, Line: w.Line}.String() }

// Webhooks returns the webhooks in the project's code, in the order of folders, files and lines. It parses markers as
// the generator does but ignores mistakes in them. The error is that of [Codebase.Kinds].
func (c *Codebase) Webhooks() ([]Webhook, error) { return c.webhooks() }

func (c *Codebase) readWebhooks() (all []Webhook, err error) {
	files, err := c.GoFiles()
	for _, name := range files {
		text, err := c.view.ReadFile(name)
		if err != nil {
			continue // building the code reports it
		}
		for _, found := range source.Webhooks(name, text) {
			w := found.Value
			if w.Path != "" {
				w.Path = path.Join("/", w.Path)
			}
			all = append(all, Webhook{Path: w.Path, Mutating: w.Mutating, Elsewhere: w.ServiceName != "", Definitions: definitionsOf(w), Verbs: w.Verbs, File: name, Line: found.Line})
		}
	}
	return all, err
}

func definitionsOf(w source.Webhook) (names []string) {
	for _, group := range w.Groups {
		for _, resource := range w.Resources {
			names = append(names, resource+"."+group)
		}
	}
	return names
}

// WebhookPath returns the default path of a kind's webhook: the one that sets defaults if mutating, else the validating
// one. It follows controller-runtime.
func WebhookPath(r project.Resource, mutating bool) string {
	verb := "/validate-"
	if mutating {
		verb = "/mutate-"
	}
	return verb + strings.ReplaceAll(r.QualifiedGroup(), ".", "-") + "-" + r.Version + "-" + r.SingularName()
}
