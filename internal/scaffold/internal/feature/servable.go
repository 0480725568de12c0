package feature

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/finite"
	"github.com/slipway-dev/slipway/internal/lazy"
	"github.com/slipway-dev/slipway/internal/report"
)

// ErrDeployedOtherwise is why webhooks are not deployed: the project deploys its manager or its webhooks in another way
// than scaffolds do.
var ErrDeployedOtherwise = errors.New("webhooks are deployed by config/webhook and a patch of the Deployment in " + managerFile)

// requireServable refuses a project in which the files that deploy webhooks would find nothing, or would stand beside
// the project's own. One that has them already is as its authors want it.
func (p *planner) requireServable() error {
	if there, err := p.Exists(WebhookServer.component()); err != nil || there || p.Recording() {
		return err
	}
	if err := p.requireDeployment(WebhookServer); err != nil {
		return err
	}
	place, err := p.ownConfiguration()
	if err != nil || place == "" {
		return err
	}
	return &report.Error{
		What: "the project deploys its webhooks with configurations of its own", Where: place, Err: ErrDeployedOtherwise,
		Hint: "nothing was changed; a second server in config/webhook would stand beside this one: add the webhook to this file",
	}
}

// webhookConfiguration matches the line by which an object registers webhooks. A patch of such an object has no
// clientConfig.
var webhookConfiguration = lazy.Regexp(`(?m)^kind: (Mutating|Validating)WebhookConfiguration\s*$`)

// ownConfiguration is the place of an object that registers webhooks outside of the folder for generated ones, or "".
func (p *planner) ownConfiguration() (place string, err error) {
	err = fs.WalkDir(os.DirFS(p.Root()), "config", func(name string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return fmt.Errorf("look for webhooks in config: %w", err)
		case place != "" || name == path.Dir(WebhookServer.component()):
			return fs.SkipDir
		case !d.Type().IsRegular() || !slices.Contains([]string{".yaml", ".yml"}, path.Ext(name)):
			return nil
		}
		data, err := finite.ReadFile(filepath.Join(p.Root(), filepath.FromSlash(name)))
		if err != nil {
			return nil // what cannot be read is reported by kustomize
		}
		if at := webhookConfiguration().FindIndex(data); at != nil && strings.Contains(string(data), "clientConfig:") {
			place = fmt.Sprintf("%s:%d", name, 1+strings.Count(string(data[:at[0]]), "\n"))
		}
		return nil
	})
	return place, err
}
