package cli

import (
	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/operation/tools"
)

func (inv *invocation) versionCommand() *cobra.Command {
	check := false
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of slipway and how it was built",
		Long: `Version prints which slipway this is. With --check it asks the host of releases whether there is a newer one, and
believes only a signed answer. No other command asks.

Environment:
  SLIPWAY_DOWNLOAD   off, or the https address of a mirror of the releases`,
		Example: `  slipway version
  slipway version --check`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if check {
				return done(tools.CheckVersion(cmd.Context(), inv.session()))
			}
			operation.ReportVersion(inv.session())
			return nil
		},
	}
	cmd.Flags().BoolVar(&check, "check", false, "ask whether there is a newer release")
	return cmd
}
