package dev

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ship"
	"github.com/slipway-dev/slipway/project"
)

// projectWebhooks are those that the manager serves, as far as PROJECT and the generated configurations say.
type projectWebhooks struct {
	ship.LocalWebhooks
	admission bool     // PROJECT lists defaulting or validation
	sought    []string // the files in which their configurations were looked for
}

// webhooks are those of the project, or nil when the manager serves none or with a certificate of its own.
func (o Options) webhooks(code *codebase.Codebase, l listening) (*projectWebhooks, error) {
	if lookup(slices.Concat(l.env, o.Env), "ENABLE_WEBHOOKS") == "false" || given(l.args, "webhook-cert-path") {
		return nil, nil
	}
	p, err := code.Project()
	if err != nil {
		return nil, nil // with a PROJECT that cannot be read nothing is known of webhooks
	}
	if p == nil {
		p = &project.Project{}
	}
	hooks := &projectWebhooks{LocalWebhooks: ship.LocalWebhooks{Prefix: cmp.Or(p.Name, strings.ToLower(code.ProjectName()), "project") + "-run-"}}
	for _, r := range p.Resources {
		if r.Webhooks == nil {
			continue
		}
		hooks.admission = hooks.admission || r.Webhooks.Defaulting || r.Webhooks.Validation
		if r.Webhooks.Conversion {
			hooks.Converted = append(hooks.Converted, r.CRDName())
		}
	}
	// They are also of webhooks that were written by hand, which PROJECT does not know.
	if err := hooks.read(code); err != nil {
		return nil, err
	}
	if len(hooks.Manifests) == 0 && len(hooks.Converted) == 0 && !hooks.admission {
		return nil, nil
	}
	return hooks, nil
}

// read reads the configurations from all files that have some: those that are generated or, where none is there, the
// layout's.
func (h *projectWebhooks) read(code *codebase.Codebase) error {
	made, _ := code.Generation() // generating reports the error
	h.sought = made.WebhookFiles()
	there := func(file string) bool { is, err := fileview.Exists(code.View(), file); return is || err != nil }
	if usual := codebase.WebhookFolder + "/manifests.yaml"; !slices.ContainsFunc(h.sought, there) && !slices.Contains(h.sought, usual) {
		h.sought = append(h.sought, usual)
	}
	var documents [][]byte
	for _, file := range h.sought {
		content, err := code.View().ReadFile(file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("serve webhooks: %w", err)
		}
		if err == nil {
			documents = append(documents, content)
		}
	}
	h.Manifests = bytes.Join(documents, []byte("\n---\n"))
	return nil
}

// noteCalled says which webhooks the cluster calls during the run. Those for admission that no configuration
// registers are never called, which the manager cannot know.
func (o Options) noteCalled(hooks *projectWebhooks, detour *ship.Detour) {
	if !detour.Empty() {
		o.Handler.Handle(report.Note{Text: "the cluster calls the webhooks of this manager at " + hooks.Address + "; ENABLE_WEBHOOKS=false turns them off"})
	}
	if hooks.admission && len(detour.Configurations) == 0 {
		o.Handler.Handle(report.Warning{Text: "the cluster does not call the defaulting and validating webhooks of this manager: no configurations of them are in " +
			strings.Join(hooks.sought, " or ")})
	}
}
