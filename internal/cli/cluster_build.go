package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/report"
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
			path, err := inv.buildClusterProgram(cmd.Context(), nodes)
			if err != nil {
				return err
			}
			value := struct {
				Path string `json:"path"`
			}{path}
			inv.handler.Handle(report.Result{Text: path, Value: value})
			return nil
		},
	}
	cmd.Flags().StringVar(&nodes, "nodes", "simulated", "`kind` of the nodes: simulated ones need no program of their own, real ones do")
	return cmd
}

// buildClusterProgram makes sure that the program for clusters is there, or that for nodes of a kind which have one.
func (inv *invocation) buildClusterProgram(ctx context.Context, nodes string) (string, error) {
	switch nodes {
	case "simulated":
		return inv.clusters().Program(ctx)
	case "real":
		return inv.clusters().NodeProgram(ctx)
	}
	return "", &report.Error{What: "there are no such nodes", Where: "--nodes " + nodes, Hint: "expected simulated or real", Code: usageCode}
}
