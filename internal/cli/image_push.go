package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/image/wire"
	"github.com/slipway-dev/slipway/internal/report"
)

func (inv *invocation) imagePushCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "push NAME",
		Short: "Push an image that was built to the registry in its name",
		Long: `Push pushes an image that was built, with its bill of materials, to the registry that its name begins with, and tells
its digest. What the registry has already is not sent again.

A cluster's own registry is at the address that 'slipway cluster status' tells.`,
		Example: `  slipway image push registry.example.com/operator:v1
  slipway image push localhost:5001/operator:v1`,
		Args: oneImage,
		RunE: func(cmd *cobra.Command, args []string) error {
			pushed, err := inv.images().Push(cmd.Context(), wire.Push{Ref: args[0]})
			if err != nil {
				return err
			}
			inv.handler.Handle(report.Result{Text: "pushed " + pushed.Name + "\n" + pushed.Image, Value: pushed})
			return nil
		},
	}
}

func (inv *invocation) imageLoadCommand() *cobra.Command {
	var cluster string
	cmd := &cobra.Command{
		Use:   "load NAME|ARCHIVE",
		Short: "Put an image into an embedded cluster",
		Long: `Load puts an image that was built, or all that an archive has, into the registry of an embedded cluster that runs. Its
nodes look there first, whatever registry an image's name begins with, so that a name like controller:latest needs none.

An argument that ends in .tar is an archive, as 'slipway image save', 'docker save' and 'podman save' write them.`,
		Example: `  slipway image load controller:latest
  slipway image load operator.tar --cluster staging`,
		Args: oneImage,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := inv.clusters().Status(cmd.Context(), cluster)
			if err != nil {
				return err
			}
			if err := s.Problem(); err != nil {
				return err
			}
			l := wire.Load{Ref: args[0], Registry: s.Registry}
			if strings.HasSuffix(args[0], ".tar") {
				l.Ref, l.File = "", inv.absolute(args[0])
			}
			loaded, err := inv.images().Load(cmd.Context(), l)
			if err != nil {
				return err
			}
			inv.handler.Handle(report.Result{Text: loadedText(loaded, s.Name), Value: loaded})
			return nil
		},
	}
	cmd.Flags().StringVar(&cluster, "cluster", "", "`name` of the cluster (default: the default one)")
	return cmd
}

func loadedText(l wire.Loaded, cluster string) string {
	var lines []string
	for _, i := range l.Images {
		lines = append(lines, "cluster "+cluster+" has "+i.Name+"\n"+i.Digest)
	}
	return strings.Join(lines, "\n")
}
