package cli

import (
	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/report"
)

func (inv *invocation) imageListCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the images that were built or pulled",
		Long:    `List lists the images that were built or pulled and are kept, by their names.`,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return inv.session().ListImages(cmd.Context())
		},
	}
}

func (inv *invocation) imageRemoveCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "remove NAME...",
		Aliases: []string{"rm"},
		Short:   "Remove images that were built or pulled",
		Long: `Remove removes images that were built or pulled from the user's cache. One that is not there is no mistake. What was pushed or
saved stays where it is.`,
		Example: `  slipway image remove operator:v1`,
		Args:    someImages,
		RunE: func(cmd *cobra.Command, args []string) error {
			return inv.session().RemoveImages(cmd.Context(), args...)
		},
	}
}

func someImages(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return nil
	}
	return &report.Error{What: cmd.CommandPath() + " takes names of images", Next: "slipway image list", Code: usageCode}
}
