package cli

import (
	"runtime"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation/images"
	"github.com/slipway-dev/slipway/internal/report"
)

const imagePullLong = `Pull downloads images from the registries in their names and keeps them under these names.
'slipway image load' then loads them into an embedded cluster. A name without a registry means Docker Hub.

A mirror replaces a registry. With --mirror docker.io=mirror.example.com:5000/hub, the image busybox comes from
hub/library/busybox on that server. SLIPWAY_MIRROR holds mirrors for all commands, separated by commas.
Clusters pass them to their real nodes when they start.

Pull checks all contents against their digests. It downloads the image of one platform. If a name has the digest of an
index, pull downloads all platforms of the index.`

func (inv *invocation) imagePullCommand() *cobra.Command {
	var pull images.Pull
	cmd := &cobra.Command{
		Use:   "pull NAME...",
		Short: "Download images from registries or mirrors and keep them",
		Long:  imagePullLong,
		Example: `  slipway image pull busybox:1.37 && slipway image load busybox:1.37
  slipway image pull --mirror docker.io=mirror.example.com:5000 postgres:17`,
		Args: pulledImages,
		RunE: func(cmd *cobra.Command, args []string) error {
			return done(images.PullImages(cmd.Context(), inv.session(), pull, args...))
		},
	}
	cmd.Flags().StringVar(&pull.Platform, "platform", "", "`platform` of the image (default: linux/"+runtime.GOARCH+")")
	bindMirrors(cmd, &pull.Mirrors)
	return cmd
}

// bindMirrors gives a command that pulls images its flag for mirrors.
func bindMirrors(cmd *cobra.Command, mirrors *[]string) {
	cmd.Flags().StringSliceVar(mirrors, "mirror", nil, "use a mirror in place of a registry, `REGISTRY=HOST[:PORT][/PATH]`; repeatable")
}

func pulledImages(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return nil
	}
	return &report.Error{What: cmd.CommandPath() + " takes names of images", Hint: "use a name like busybox:1.37 or quay.io/team/app:v1", Next: cmd.CommandPath() + " --help", Code: report.UsageCode}
}
