package cli

import (
	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation/images"
)

func (inv *invocation) imagePushCommand() *cobra.Command {
	var archive string
	cmd := &cobra.Command{
		Use:   "push NAME",
		Short: "Push an image to the registry in its name",
		Long: `Push pushes a built or pulled image, with its bill of materials, to the registry that its name begins with, and prints
its digest. It sends only contents that the registry lacks.

'slipway cluster status' shows the address of a cluster's own registry: localhost:5001 for the cluster that was
started first. Push warns if the current context belongs to another cluster, and if pods of the image will be simulated.

With --archive push takes the image from an archive of 'slipway image save', 'docker save' or 'podman save'. It needs no
cluster, and keeps no copy. If the archive has several images, NAME is one of theirs.`,
		Example: `  slipway image push registry.example.com/operator:v1
  slipway image push localhost:5001/operator:v1
  slipway image push registry.example.com/operator:v1 --archive operator.tar`,
		Args: oneImage,
		RunE: func(cmd *cobra.Command, args []string) error {
			return done(images.Push(cmd.Context(), inv.session(), args[0], archive))
		},
	}
	cmd.Flags().StringVar(&archive, "archive", "", "push the image of this `archive`, in place of one that was built or pulled")
	return cmd
}

func (inv *invocation) imageLoadCommand() *cobra.Command {
	var cluster string
	cmd := &cobra.Command{
		Use:   "load NAME|ARCHIVE",
		Short: "Load an image into an embedded cluster",
		Long: `Load copies a built or pulled image, or all images of an archive, into the registry of a running embedded cluster. The
cluster's nodes look there first for every image name, so a name like controller:latest needs no registry.

If the cluster was started with default nodes, load adds an isolated node, and pods of the image then run as containers.
The first time, slipway compiles the node's program, which takes minutes. If no isolated node can run here, pods
stay simulated, and load reports the cause.

An argument that ends in .tar, .tar.gz or .tgz is an archive of 'slipway image save', 'docker save' or 'podman save'.`,
		Example: `  slipway image load controller:latest
  slipway image load operator.tar --cluster staging`,
		Args: oneImage,
		RunE: func(cmd *cobra.Command, args []string) error {
			return done(images.Load(cmd.Context(), inv.session(), args[0], cluster))
		},
	}
	bindCluster(cmd.Flags(), &cluster)
	return cmd
}
