package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/report"
)

// imageCommand is `slipway image`.
func (inv *invocation) imageCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "image",
		Short: "Build, pull, push and keep container images, without a container engine",
		Long: `An image of an operator consists of its manager, a static program, and the certificates, users and time
zones that the manager needs. Image builds it with the go command, pushes it to a registry, loads it
into an embedded cluster and saves it into an archive. It needs no container engine. The same
sources make the same image, byte for byte, on every machine.

The user's cache keeps built and pulled images under their names until they are removed or built again.

Credentials are those of docker and podman: ~/.docker/config.json, or the folder in DOCKER_CONFIG, with
credential helpers, and podman's auth.json. 'slipway image login' adds to them. Image requires TLS for all registries
except those on this machine.

Environment:
  SLIPWAY_CACHE       folder for compiled managers and images (default: slipway in the user's cache folder)
  SLIPWAY_MIRROR      mirrors of registries, like docker.io=mirror.example.com:5000,quay.io=…
  SOURCE_DATE_EPOCH   creation time of images, in seconds since 1970 (default: that of the commit)`,
		Args: noSubcommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	addCommands(cmd, inv.imageBuildCommand(), inv.imagePullCommand(), inv.imagePushCommand(), inv.imageLoadCommand(), inv.imageSaveCommand(),
		inv.imageInspectCommand(), inv.imageListCommand(), inv.imageRemoveCommand(), inv.imageLoginCommand(), inv.imageLogoutCommand())
	return cmd
}

// oneImage wants the name of one image.
func oneImage(cmd *cobra.Command, args []string) error {
	if len(args) == 1 && args[0] != "" {
		return nil
	}
	e := &report.Error{What: cmd.CommandPath() + " takes the name of one image", Hint: "use a name like registry.example.com/operator:v1",
		Next: "slipway image list", Code: report.UsageCode}
	if len(args) > 1 {
		e.Where = args[1]
	}
	return e
}

// keyed reads flags of the form KEY=VALUE.
func keyed(flag string, texts []string) (map[string]string, error) {
	values := map[string]string{}
	for _, text := range texts {
		key, value, ok := strings.Cut(text, "=")
		if !ok || key == "" {
			return nil, flagValueError(flag, fmt.Sprintf("%q is not of the form KEY=VALUE", text))
		}
		values[key] = value
	}
	return values, nil
}
