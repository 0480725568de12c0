package dev

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/finite"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ship"
	"github.com/slipway-dev/slipway/project"
)

// usualWebhooks is where scaffolds have the configurations of webhooks, below the project's folder.
const usualWebhooks = codebase.WebhookFolder + "/manifests.yaml"

// projectWebhooks are those that the manager serves, as far as PROJECT and the generated configurations say.
type projectWebhooks struct {
	ship.LocalWebhooks
	admission    bool     // PROJECT lists defaulting or validation
	sought       []string // the files in which their configurations were looked for
	certificates string   // the folder with the manager's certificate
}

// webhooks are those of the project in o.Dir, or nil when the manager serves none or with a certificate
// of its own.
func (o Options) webhooks(l listening) (*projectWebhooks, error) {
	if slices.Contains(o.Env, "ENABLE_WEBHOOKS=false") || given(l.args, "webhook-cert-path") {
		return nil, nil
	}
	p, err := project.Load(o.Dir)
	if err != nil {
		return nil, nil // without a readable PROJECT there is nothing to know of webhooks
	}
	hooks := &projectWebhooks{LocalWebhooks: ship.LocalWebhooks{Prefix: p.Name + "-run-", Address: cmp.Or(l.called, l.webhooks())}}
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
	if hooks.Manifests, hooks.sought, err = o.configurations(); err != nil {
		return nil, err
	}
	if len(hooks.Manifests) == 0 && len(hooks.Converted) == 0 && !hooks.admission {
		return nil, nil
	}
	return hooks, nil
}

// configurations are the webhook configurations of all files that have some, and the files that were looked for.
func (o Options) configurations() (manifests []byte, sought []string, err error) {
	sought = slices.Clone(o.Webhooks)
	if manifests, err = readTogether(sought); err != nil || len(manifests) > 0 {
		return manifests, sought, err
	}
	if usual := filepath.Join(o.Dir, filepath.FromSlash(usualWebhooks)); !slices.Contains(sought, usual) {
		sought = append(sought, usual)
	}
	manifests, err = readTogether(sought)
	return manifests, sought, err
}

// readTogether reads the files that are there as documents of one.
func readTogether(files []string) ([]byte, error) {
	var documents [][]byte
	for _, file := range files {
		content, err := finite.ReadFile(file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("serve webhooks: %w", err)
		}
		if err == nil {
			documents = append(documents, content)
		}
	}
	return bytes.Join(documents, []byte("\n---\n")), nil
}

// noteCalled says which webhooks the cluster calls during the run. Those for admission that no configuration
// registers are never called, which the manager cannot know.
func (o Options) noteCalled(hooks *projectWebhooks, detour *ship.Detour) {
	if !detour.Empty() {
		o.Handler.Handle(report.Note{Text: "the cluster calls the webhooks of this manager at " + hooks.Address + "; ENABLE_WEBHOOKS=false turns them off"})
	}
	if hooks.admission && len(detour.Configurations) == 0 {
		o.Handler.Handle(report.Warning{Text: "the cluster does not call the defaulting and validating webhooks of this manager: no configurations of them are in " +
			strings.Join(o.fromProject(hooks.sought), " or ")})
	}
}

// fromProject are paths of files relative to the project, where they are in it.
func (o Options) fromProject(files []string) []string {
	var names []string
	for _, file := range files {
		if name, err := filepath.Rel(o.Dir, file); err == nil && filepath.IsLocal(name) {
			file = filepath.ToSlash(name)
		}
		names = append(names, file)
	}
	return names
}
