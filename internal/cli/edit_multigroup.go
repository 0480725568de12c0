package cli

import (
	"github.com/spf13/pflag"

	"github.com/slipway-dev/slipway/internal/scaffold"
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
