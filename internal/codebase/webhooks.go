package codebase

import (
	"path"
	"strings"

	"github.com/slipway-dev/slipway/internal/generate/source"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/project"
)

// A Webhook is an admission webhook that a marker of the project's code declares.
type Webhook struct {
	Path     string // where the manager serves it, such as /validate-batch-example-com-v1-cronjob; "" with a URL
	Mutating bool
	// Elsewhere reports whether a service of another name is called, which need not be the manager's.
	Elsewhere bool
	// Definitions are the names of the definitions of the objects that it is for; of a pattern there are none.
	Definitions []string
	Verbs       []string
	File        string
	Line        int
}

// Where is the place of the marker, "file:line".
func (w Webhook) Where() string { return report.Position{File: w.File, Line: w.Line}.String() }

// Webhooks are those of the project's code, in the order of folders, files and lines: see [Codebase.Kinds] for the
// error. They are read as the generator reads them, but a mistake in a marker is not reported here.
func (c *Codebase) Webhooks() ([]Webhook, error) { return c.webhooks() }

func (c *Codebase) readWebhooks() (all []Webhook, err error) {
	files, err := c.GoFiles()
	for _, name := range files {
		text, err := c.view.ReadFile(name)
		if err != nil {
			continue // code that cannot be read is reported by what builds it
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

// WebhookPath is where a manager serves the webhook that sets the defaults of a kind's objects or, if it is not
// mutating, the one that validates them, unless a flag chose another path.
func WebhookPath(r project.Resource, mutating bool) string {
	verb := "/validate-"
	if mutating {
		verb = "/mutate-"
	}
	return verb + strings.ReplaceAll(r.QualifiedGroup(), ".", "-") + "-" + r.Version + "-" + r.SingularName()
}
