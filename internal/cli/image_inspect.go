package cli

import (
	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation/images"
)

func (inv *invocation) imageInspectCommand() *cobra.Command {
	sbom := false
	cmd := &cobra.Command{
		Use:   "inspect NAME",
		Short: "Show an image's digest, platforms, layers, entrypoint and labels",
		Long: `Inspect shows the digest and size of a built image, and for each platform the user, the entrypoint, the labels
and the layers. With --sbom it prints the bills of materials instead, in SPDX 2.3.`,
		Example: `  slipway image inspect operator:v1
  slipway image inspect operator:v1 --sbom > sbom.spdx.json`,
		Args: oneImage,
		RunE: func(cmd *cobra.Command, args []string) error {
			return done(images.Inspect(cmd.Context(), inv.session(), args[0], sbom))
		},
	}
	cmd.Flags().BoolVar(&sbom, "sbom", false, "print the bills of materials")
	return cmd
}
