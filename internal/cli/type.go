package cli

import (
	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation"
)

// typeCommand is `slipway type`, with the flags of the tool type-scaffold.
func (inv *invocation) typeCommand() *cobra.Command {
	var t operation.Type
	cmd := &cobra.Command{
		Use:     "type",
		Aliases: []string{"type-scaffold"},
		Short:   "Print the Go types of a kind, to begin with",
		Long: `Type prints the Go declarations that a kind begins with: the kind with its metadata, types of its spec and
its status, and a list type, with the markers that have code generated for them. It writes no file and needs
no project; slipway create api makes a kind part of one.

slipway type-scaffold is the same command, and so is the program under the name type-scaffold.`,
		Example: `  slipway type --kind Foo
  slipway type --kind Bar --resource foobars >> api/v1/bar_types.go`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			return inv.session().PrintTypes(t)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&t.Kind, "kind", "", "`kind` in CamelCase, such as CronJob")
	flags.StringVar(&t.Resource, "resource", "", "`name` of the resource; the kind's plural in lower case if it is not given")
	flags.BoolVar(&t.Namespaced, "namespaced", true, "objects live in namespaces, not in the cluster as a whole")
	return cmd
}
