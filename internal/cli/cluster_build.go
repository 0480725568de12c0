package cli

import (
	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation"
)

func (inv *invocation) clusterBuildCommand() *cobra.Command {
	var nodes string
	cmd := &cobra.Command{
		Use:   "build",
		Short: "Compile the cluster program if need be, and print its path",
		Long: `Build makes sure that the slipway-cluster program is there, and prints its path. Every command that
needs the program does the same by itself; build is for doing it beforehand, when an image or a CI
runner is prepared. The first time takes minutes; interrupted, it resumes where it was.

With --nodes real it does the same for the program of real nodes, slipway-node.`,
		Example: `  slipway cluster build
  export SLIPWAY_CLUSTER=$(slipway cluster build) SLIPWAY_NODE=$(slipway cluster build --nodes real)`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return inv.session().BuildClusterProgram(cmd.Context(), nodes)
		},
	}
	cmd.Flags().StringVar(&nodes, "nodes", operation.SimulatedNodes, "`kind` of the nodes: simulated ones need no program of their own, real ones do")
	return cmd
}
