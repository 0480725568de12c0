package cli

import (
	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation/projects"
)

// typeCommand is `slipway type`, with the flags of the tool type-scaffold.
func (inv *invocation) typeCommand() *cobra.Command {
	var t projects.Type
	cmd := &cobra.Command{
		Use:     "type",
		Aliases: []string{"type-scaffold"},
		Short:   "Print initial Go types of a kind",
		Long: `Type prints initial Go declarations of a kind: the kind with its metadata, its spec, its status and a list type,
with the markers for generated code. It writes no file and needs no project; slipway create api adds a kind to a
project.

slipway type-scaffold is the same command, and a link named type-scaffold to the program runs it, too.`,
		Example: `  slipway type --kind Foo
  slipway type --kind Bar --resource foobars >> api/v1/bar_types.go`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			return done(projects.PrintTypes(inv.session(), t))
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&t.Kind, "kind", "", "`kind` in CamelCase, such as CronJob")
	flags.StringVar(&t.Resource, "resource", "", "`name` of the resource; default: the kind's plural in lower case")
	flags.BoolVar(&t.Namespaced, "namespaced", true, "objects live in namespaces, not in the cluster as a whole")
	return cmd
}
