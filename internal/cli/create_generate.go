package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/slipway-dev/slipway/internal/generate"
	"github.com/slipway-dev/slipway/internal/regenerate"
	"github.com/slipway-dev/slipway/internal/scaffold"
)

// generateForAPI generates what follows from a new API. Apply configurations come first: the
// controller imports them, and code that imports what is not there cannot be read.
func (inv *invocation) generateForAPI(ctx context.Context, root string, api scaffold.API) error {
	if api.SSA {
		if err := inv.generateApplyConfigurations(ctx, root, api); err != nil {
			return err
		}
	}
	return inv.generateOnly(ctx, root)
}

func (inv *invocation) generateApplyConfigurations(ctx context.Context, root string, api scaffold.API) error {
	file, err := scaffold.ReadProject(root)
	if err != nil {
		return err
	}
	r := file.Lookup(api.Group, api.Version, api.Kind)
	if r == nil {
		return nil
	}
	options := "headerFile=" + regenerate.Boilerplate
	if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(regenerate.Boilerplate))); errors.Is(err, fs.ErrNotExist) {
		options = ""
	}
	plan := regenerate.PlanOver(root, []string{"./" + file.APIDir(*r)},
		generate.Use{Name: "object", Options: options}, generate.Use{Name: "applyconfiguration", Options: options})
	result, err := inv.runPlan(ctx, root, plan, generate.Options{Cache: inv.runsFolder()})
	if err == nil {
		inv.tellRun(root, result)
	}
	return err
}
