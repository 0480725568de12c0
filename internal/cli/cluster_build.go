package cli

import (
	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation"
)

func (inv *invocation) clusterBuildCommand() *cobra.Command {
	var nodes string
	cmd := &cobra.Command{
		Use:   "build",
		Short: "Compile the cluster program if it is missing, and print its path",
		Long: `Build compiles the slipway-cluster program if it is missing, and prints its path. Every command that
needs the program does the same; build does it beforehand, for example in the image of a CI
runner. The first build takes minutes. A build that was interrupted resumes.

With --nodes real it does the same for slipway-node, the program of isolated nodes.`,
		Example: `  slipway cluster build
  export SLIPWAY_CLUSTER=$(slipway cluster build) SLIPWAY_NODE=$(slipway cluster build --nodes real)`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return inv.session().BuildClusterProgram(cmd.Context(), nodes)
		},
	}
	cmd.Flags().StringVar(&nodes, "nodes", operation.SimulatedNodes, "`kind` of the nodes: real ones need a program of their own, simulated ones do not")
	return cmd
}
