package cli

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation/images"
)

// formatUsage is the help of --format.
const formatUsage = "`format` of the archive: docker, or oci (default: docker for one platform, oci for several)"

func (inv *invocation) imageSaveCommand() *cobra.Command {
	var a images.Archive
	cmd := &cobra.Command{
		Use:   "save NAME -o ARCHIVE",
		Short: "Save an image into an archive",
		Long: `Save writes a built image to an archive: in docker's format, which 'docker load' and other tools read, or as
an OCI image layout, which can hold several platforms. The file appears only when it is complete.`,
		Example: `  slipway image save operator:v1 -o operator.tar
  slipway image save operator:v1 -o arm.tar --platform linux/arm64`,
		Args: oneImage,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains([]string{"", images.DockerArchive, images.OCIArchive}, a.Format) {
				return flagValueError("--format", fmt.Sprintf("unknown archive format %q: use docker or oci", a.Format))
			}
			if a.File == "" {
				return missingFlag(cmd, "archive", args[0]+" --archive image.tar")
			}
			a.Image = args[0]
			return done(images.Save(cmd.Context(), inv.session(), a))
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&a.File, "archive", "o", "", "`archive` to write")
	flags.StringVar(&a.Format, "format", "", formatUsage)
	flags.StringVar(&a.Platform, "platform", "", "the only `platform` to save, like linux/arm64")
	return cmd
}
