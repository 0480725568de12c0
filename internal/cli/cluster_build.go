package cli

import (
	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/report"
)

func (inv *invocation) clusterBuildCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "build",
		Short: "Compile the cluster program if need be, and print its path",
		Long: `Build makes sure that the slipway-cluster program is there, and prints its path. Every command that
needs the program does the same by itself; build is for doing it beforehand, when an image or a CI
runner is prepared. The first time takes minutes; interrupted, it resumes where it was.`,
		Example: `  slipway cluster build
  export SLIPWAY_CLUSTER=$(slipway cluster build)`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			path, err := inv.clusters().Program(cmd.Context())
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
}
