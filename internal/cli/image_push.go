package cli

import (
	"github.com/spf13/cobra"
)

func (inv *invocation) imagePushCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "push NAME",
		Short: "Push an image that was built to the registry in its name",
		Long: `Push pushes an image that was built, with its bill of materials, to the registry that its name begins with, and tells
its digest. What the registry has already is not sent again.

A cluster's own registry is at the address that 'slipway cluster status' tells: localhost:5001 is that of the cluster that was
started first. Push warns when the current context is another cluster's, and says what is to be done when pods of the image will be simulated.`,
		Example: `  slipway image push registry.example.com/operator:v1
  slipway image push localhost:5001/operator:v1`,
		Args: oneImage,
		RunE: func(cmd *cobra.Command, args []string) error {
			return inv.session().PushImage(cmd.Context(), args[0])
		},
	}
}

func (inv *invocation) imageLoadCommand() *cobra.Command {
	var cluster string
	cmd := &cobra.Command{
		Use:   "load NAME|ARCHIVE",
		Short: "Put an image into an embedded cluster",
		Long: `Load puts an image that was built or pulled, or all that an archive has, into the registry of an embedded cluster that runs. Its
nodes look there first, whatever registry an image's name begins with, so that a name like controller:latest needs none.

Pods of the image run for real: a cluster that was started without a word about nodes is joined by a real node, which is
told, unless it has one. The first time the node's program is built, which takes some minutes. Where no real node can be,
pods stay simulated, and load says why.

An argument that ends in .tar, .tar.gz or .tgz is an archive, as 'slipway image save', 'docker save' and 'podman save' write them.`,
		Example: `  slipway image load controller:latest
  slipway image load operator.tar --cluster staging`,
		Args: oneImage,
		RunE: func(cmd *cobra.Command, args []string) error {
			return inv.session().LoadImage(cmd.Context(), args[0], cluster)
		},
	}
	bindCluster(cmd.Flags(), &cluster)
	return cmd
}
