package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/image/wire"
	"github.com/slipway-dev/slipway/internal/report"
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
			account, err := inv.accountFor(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			pushed, err := inv.images().Push(cmd.Context(), wire.Push{Ref: args[0], Account: account})
			if err != nil {
				return err
			}
			inv.handler.Handle(report.Result{Text: "pushed " + pushed.Name + "\n" + pushed.Image, Value: pushed})
			inv.tellOfPush(cmd.Context(), pushed.Name)
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

Pods of the image run for real: a cluster that was started without a word about nodes is joined by a real node, which is
told, unless it has one. The first time the node's program is built, which takes some minutes. Where no real node can be,
pods stay simulated, and load says why.

An argument that ends in .tar, .tar.gz or .tgz is an archive, as 'slipway image save', 'docker save' and 'podman save' write them.`,
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
			account, err := inv.registryAccount(s.Name)
			if err != nil {
				return err
			}
			l := wire.Load{Ref: args[0], Registry: s.Registry, Account: account}
			if isArchive(args[0]) {
				l.Ref, l.File = "", inv.absolute(args[0])
			}
			loaded, err := inv.images().Load(cmd.Context(), l)
			if err != nil {
				return err
			}
			joined, err := inv.joinForImages(cmd.Context(), s)
			if err != nil {
				return err
			}
			inv.handler.Handle(report.Result{Text: loadedText(loaded, s.Name, joined), Value: loadedImages{loaded, joined}})
			return nil
		},
	}
	cmd.Flags().StringVar(&cluster, "cluster", "", "`name` of the cluster (default: the default one)")
	return cmd
}

// isArchive says whether a name is a file's; images have none that ends like these.
func isArchive(name string) bool {
	return slices.ContainsFunc([]string{".tar", ".tar.gz", ".tgz"}, func(suffix string) bool { return strings.HasSuffix(strings.ToLower(name), suffix) })
}

// loadedImages are the images that a cluster has, and the node that runs their pods.
type loadedImages struct {
	wire.Loaded

	Node *clusterctl.Joined `json:"node,omitempty"`
}

// joinForImages has a real node join a cluster in which images are of use then; before is how the cluster was.
func (inv *invocation) joinForImages(ctx context.Context, before *clusterctl.Status) (*clusterctl.Joined, error) {
	if before.Nodes == nil || !before.Nodes.Joins || before.Nodes.Real > 0 {
		return nil, nil
	}
	joined, err := inv.clusters().Join(ctx, before.Name)
	return &joined, err
}

func loadedText(l wire.Loaded, cluster string, joined *clusterctl.Joined) string {
	var lines []string
	for _, i := range l.Images {
		lines = append(lines, "cluster "+cluster+" has "+i.Name+"\n"+i.Digest)
	}
	if joined != nil {
		lines = append(lines, joinedText(*joined))
	}
	return strings.Join(lines, "\n")
}
