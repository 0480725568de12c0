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

// listsManifests matches the entry of a kustomization for the generated webhook configurations.
var listsManifests = lazy.Regexp(`(?m)^\s*- manifests\.yaml\s*$`)

// generatesManifests reports whether one of the generators makes CRDs or roles.
func generatesManifests(uses []generate.Use) bool {
	return slices.ContainsFunc(uses, func(u generate.Use) bool { return u.Name == "crd" || u.Name == "rbac" })
}

// WithoutWebhooks returns "file:line" of the call that generates CRDs or roles, if no call generates webhook
// configurations. It returns "" otherwise, and if some calls or steps are not followed.
func (p *Plan) WithoutWebhooks() string {
	if p.more || p.manifests.Line == 0 || slices.ContainsFunc(p.runs, func(r planned) bool {
		return slices.ContainsFunc(r.uses, func(u generate.Use) bool { return u.Name == "webhook" })
	}) {
		return ""
	}
	return fmt.Sprintf("%s:%d", p.manifests.File, p.manifests.Line)
}

// withoutWebhooks returns a finding if no call generates the webhook configurations that a kustomization lists: that
// kustomization cannot build.
func (p *Plan) withoutWebhooks() ([]report.Finding, error) {
	if p.WithoutWebhooks() == "" {
		return nil, nil
	}
	list, err := p.view.ReadFile(codebase.WebhookFolder + "/kustomization.yaml")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, &report.Error{Class: report.BadProject, What: "file cannot be read", Where: codebase.WebhookFolder, Err: err}
	}
	if p.fileExists(codebase.WebhookFolder+"/manifests.yaml") || !listsManifests().Match(bytes.ReplaceAll(list, []byte("\r"), nil)) {
		return nil, nil
	}
	return []report.Finding{{Rule: report.RuleMissingGenerator, Position: p.manifests,
		Message:    "no call of controller-gen generates webhook configurations, which config/webhook/kustomization.yaml lists",
		Suggestion: "add webhook to the arguments of this call",
	}}, nil
}

func (p Plan) fileExists(name string) bool {
	there, err := fileview.Exists(p.view, name)
	return there && err == nil
}
