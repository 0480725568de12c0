package cli

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation"
)

// formatUsage is the help of --format.
const formatUsage = "`format` of the archive: docker, or oci (default: docker for one platform, oci for several)"

func (inv *invocation) imageSaveCommand() *cobra.Command {
	var a operation.Archive
	cmd := &cobra.Command{
		Use:   "save NAME -o ARCHIVE",
		Short: "Save an image into an archive",
		Long: `Save writes an image that was built into an archive: in docker's format, which 'docker load' and all others read, or as
an OCI image layout, which has room for several platforms. The archive is there when all of it is.`,
		Example: `  slipway image save operator:v1 -o operator.tar
  slipway image save operator:v1 -o arm.tar --platform linux/arm64`,
		Args: oneImage,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains([]string{"", operation.DockerArchive, operation.OCIArchive}, a.Format) {
				return flagValueError("--format", fmt.Sprintf("%q is neither docker nor oci", a.Format))
			}
			if a.File == "" {
				return missingFlag(cmd, "archive", args[0]+" --archive image.tar")
			}
			a.Image = args[0]
			return inv.session().SaveImage(cmd.Context(), a)
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&a.File, "archive", "o", "", "`archive` to write")
	flags.StringVar(&a.Format, "format", "", formatUsage)
	flags.StringVar(&a.Platform, "platform", "", "one `platform` of several, like linux/arm64")
	return cmd
}
