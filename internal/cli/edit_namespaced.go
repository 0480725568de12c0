package cli

import (
	"github.com/spf13/pflag"

	"github.com/slipway-dev/slipway/internal/scaffold"
)

// editNamespaced is --namespaced.
func (inv *invocation) editNamespaced(flags *pflag.FlagSet) func() ([]scaffold.Edit, error) {
	on := flags.Bool("namespaced", false, "have the manager watch its own namespace, with permissions there alone")
	return func() ([]scaffold.Edit, error) {
		if !flags.Changed("namespaced") {
			return nil, nil
		}
		return []scaffold.Edit{scaffold.InNamespace(*on)}, nil
	}
}
