package cli

import (
	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation/images"
	"github.com/slipway-dev/slipway/internal/report"
)

func (inv *invocation) imageListCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List built and pulled images",
		Long:    `List lists the built and pulled images in the user's cache, by their names.`,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return done(images.List(cmd.Context(), inv.session()))
		},
	}
}

func (inv *invocation) imageRemoveCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "remove NAME...",
		Aliases: []string{"rm"},
		Short:   "Remove built or pulled images",
		Long: `Remove removes built or pulled images from the user's cache. Removing an absent image is not an error. Copies in
registries, clusters and archives stay.`,
		Example: `  slipway image remove operator:v1`,
		Args:    someImages,
		RunE: func(cmd *cobra.Command, args []string) error {
			return done(images.Remove(cmd.Context(), inv.session(), args...))
		},
	}
}

func someImages(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return nil
	}
	return &report.Error{What: cmd.CommandPath() + " takes names of images", Next: "slipway image list", Code: report.UsageCode}
}
