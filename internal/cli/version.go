package cli

import (
	"github.com/spf13/cobra"
)

func (inv *invocation) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of slipway and how it was built",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			inv.session().TellVersion("")
			return nil
		},
	}
}
