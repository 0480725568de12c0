package cli

import (
	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation/clusters"
)

func (inv *invocation) clusterBuildCommand() *cobra.Command {
	var nodes string
	cmd := &cobra.Command{
		Use:   "build",
		Short: "Compile the cluster program and kubectl if they are missing, and print the program's path",
		Long: `Build compiles the slipway-cluster program and kubectl if they are missing, and prints the path of the
program. Every command compiles what it needs: a cluster starts without kubectl, which its first call
compiles. Build does both beforehand, for example in the image of a CI runner. The first build takes
minutes. A build that was interrupted resumes.

With --nodes real it does the same for slipway-node, the program of isolated nodes.`,
		Example: `  slipway cluster build
  export SLIPWAY_CLUSTER=$(slipway cluster build) SLIPWAY_NODE=$(slipway cluster build --nodes real)`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return done(clusters.BuildProgram(cmd.Context(), inv.session(), nodes))
		},
	}
	cmd.Flags().StringVar(&nodes, "nodes", clusters.SimulatedNodes, "`kind` of the nodes: real ones need a program of their own, simulated ones do not")
	return cmd
}
