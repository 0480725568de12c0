package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/operation/clusters"
)

func (inv *invocation) clusterKubeconfigCommand() *cobra.Command {
	var out string
	cmd := ofCluster(inv, &cobra.Command{
		Use:   "kubeconfig [NAME]",
		Short: "Print the kubeconfig of a running cluster",
		Long: `Kubeconfig prints a kubeconfig that holds one running cluster only, with its administrator's credentials.

With --out it writes a file that only you can read. A file that the shell creates, as with >, is usually
readable by every user of the machine, and gives them all rights in the cluster. Kubeconfig warns of that.`,
		Example: `  slipway cluster kubeconfig --out cluster.kubeconfig`,
	}, func(ctx context.Context, s *operation.Session, name string) (clusters.Kubeconfig, error) {
		if out != "" {
			return clusters.WriteKubeconfig(ctx, s, name, out)
		}
		return clusters.PrintKubeconfig(ctx, s, name)
	})
	cmd.Flags().StringVar(&out, "out", "", "write to this `file`, which only you can read, and print its name")
	return cmd
}
