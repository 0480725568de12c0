package cli

import (
	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/report"
)

func (inv *invocation) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of slipway and how it was built",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			v := operation.ReadVersion()
			inv.handler.Handle(report.Result{Text: v.String(), Value: v})
			return nil
		},
	}
}
