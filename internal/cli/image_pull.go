package cli

import (
	"runtime"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/report"
)

const imagePullLong = `Pull gets images from the registries in their names and keeps them under these names.
'slipway image load' then puts them into an embedded cluster. Images without a registry are Docker Hub's.

A mirror is asked in place of a registry. --mirror docker.io=mirror.example.com:5000/hub asks that server for
hub/library/busybox where the image is busybox. SLIPWAY_MIRROR holds mirrors for all commands, with commas between
them. Clusters give them to their real nodes when they start.

Pull checks all contents against their digests. It gets the image of one platform. A name with a digest may be
that of an index: then pull gets all of its platforms.`

func (inv *invocation) imagePullCommand() *cobra.Command {
	var pull operation.Pull
	cmd := &cobra.Command{
		Use:   "pull NAME...",
		Short: "Get images from registries, or from a mirror, and keep them",
		Long:  imagePullLong,
		Example: `  slipway image pull busybox:1.37 && slipway image load busybox:1.37
  slipway image pull --mirror docker.io=mirror.example.com:5000 postgres:17`,
		Args: pulledImages,
		RunE: func(cmd *cobra.Command, args []string) error {
			return inv.session().PullImages(cmd.Context(), pull, args...)
		},
	}
	cmd.Flags().StringVar(&pull.Platform, "platform", "", "`platform` of the image (default: linux/"+runtime.GOARCH+")")
	bindMirrors(cmd, &pull.Mirrors)
	return cmd
}

// bindMirrors gives a command that pulls images its flag for mirrors.
func bindMirrors(cmd *cobra.Command, mirrors *[]string) {
	cmd.Flags().StringSliceVar(mirrors, "mirror", nil, "ask a mirror in place of a registry, `REGISTRY=HOST[:PORT][/PATH]`; repeatable")
}

func pulledImages(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return nil
	}
	return &report.Error{What: cmd.CommandPath() + " takes names of images", Hint: "like busybox:1.37 or quay.io/team/app:v1", Next: cmd.CommandPath() + " --help", Code: usageCode}
}
