package cli

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/image/wire"
	"github.com/slipway-dev/slipway/internal/report"
)

// formatUsage is the help of --format.
const formatUsage = "`format` of the archive: docker, or oci (default: docker for one platform, oci for several)"

func (inv *invocation) imageSaveCommand() *cobra.Command {
	var s wire.Save
	var file string
	cmd := &cobra.Command{
		Use:   "save NAME -o ARCHIVE",
		Short: "Save an image into an archive",
		Long: `Save writes an image that was built into an archive: in docker's format, which 'docker load' and all others read, or as
an OCI image layout, which has room for several platforms. The archive is there when all of it is.`,
		Example: `  slipway image save operator:v1 -o operator.tar
  slipway image save operator:v1 -o arm.tar --platform linux/arm64`,
		Args: oneImage,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains([]string{"", wire.Docker, wire.OCI}, s.Format) {
				return flagValueError("--format", fmt.Errorf("%q is neither docker nor oci", s.Format))
			}
			if file == "" {
				return missingFlag(cmd, "file", args[0]+" --file image.tar")
			}
			s.Ref, s.File = args[0], inv.absolute(file)
			saved, err := inv.images().Save(cmd.Context(), s)
			if err != nil {
				return err
			}
			inv.handler.Handle(report.Result{Text: fmt.Sprintf("saved %s to %s, %s, format %s", saved.Name, file, mebibytes(saved.Size), saved.Format), Value: saved})
			return nil
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&file, "file", "o", "", "`archive` to write")
	flags.StringVar(&s.Format, "format", "", formatUsage)
	flags.StringVar(&s.Platform, "platform", "", "one `platform` of several, like linux/arm64")
	return cmd
}
