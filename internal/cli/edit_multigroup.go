package cli

import (
	"context"
	"slices"

	"github.com/spf13/pflag"

	"github.com/slipway-dev/slipway/internal/scaffold"
	"github.com/slipway-dev/slipway/project"
)

// editMultiGroup is --multigroup.
func (inv *invocation) editMultiGroup(flags *pflag.FlagSet) func() ([]scaffold.Edit, error) {
	on := flags.Bool("multigroup", false, "lay the project out for several groups: move APIs, controllers and webhooks, and rewrite what names them")
	return func() ([]scaffold.Edit, error) {
		if !flags.Changed("multigroup") {
			return nil, nil
		}
		return []scaffold.Edit{scaffold.MultiGroup(*on)}, nil
	}
}

// regenerateMoved brings apply configurations up to date, in which the folder of their types has
// part in names. Nothing else that is generated does.
func (inv *invocation) regenerateMoved(ctx context.Context, root string) error {
	file, err := scaffold.ReadProject(root)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(file.Resources, func(r project.Resource) bool { return r.API != nil && r.API.SSA }) {
		return inv.generateOnly(ctx, root)
	}
	return nil
}
