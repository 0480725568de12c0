package regenerate

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/generate"
	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/report"
)

// listsManifests matches the item of a kustomization for what the generator of webhooks writes.
var listsManifests = lazy.Regexp(`(?m)^\s*- manifests\.yaml\s*$`)

// generatesManifests reports whether generators make what is deployed.
func generatesManifests(uses []generate.Use) bool {
	return slices.ContainsFunc(uses, func(u generate.Use) bool { return u.Name == "crd" || u.Name == "rbac" })
}

// WithoutWebhooks is the place of the Makefile's call that generates what is deployed, where none generates
// configurations of webhooks; "" where one does, or where that cannot be seen.
func (p *Plan) WithoutWebhooks() string {
	if p.more || p.manifests.Line == 0 || slices.ContainsFunc(p.runs, func(r planned) bool {
		return slices.ContainsFunc(r.uses, func(u generate.Use) bool { return u.Name == "webhook" })
	}) {
		return ""
	}
	return fmt.Sprintf("%s:%d", p.manifests.File, p.manifests.Line)
}

// withoutWebhooks is the finding of a Makefile whose calls generate no configurations of webhooks, though the project
// lists them: nothing that lists them can be deployed.
func (p *Plan) withoutWebhooks() ([]report.Finding, error) {
	if p.WithoutWebhooks() == "" {
		return nil, nil
	}
	list, err := p.view.ReadFile(codebase.WebhookFolder + "/kustomization.yaml")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, &report.Error{What: "file cannot be read", Where: codebase.WebhookFolder, Err: err}
	}
	if p.there(codebase.WebhookFolder+"/manifests.yaml") || !listsManifests().Match(bytes.ReplaceAll(list, []byte("\r"), nil)) {
		return nil, nil
	}
	return []report.Finding{{Position: p.manifests,
		Message:    "no call of controller-gen generates webhook configurations, which config/webhook/kustomization.yaml lists",
		Suggestion: "add webhook to the arguments of this call",
	}}, nil
}

// there reports whether a file of the project is there.
func (p Plan) there(name string) bool {
	there, err := fileview.Exists(p.view, name)
	return there && err == nil
}
