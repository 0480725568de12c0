package cli

import (
	"github.com/spf13/cobra"
)

func (inv *invocation) clusterKubeconfigCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "kubeconfig [NAME]",
		Short: "Print the kubeconfig of a running cluster",
		Long: `Kubeconfig prints a kubeconfig that holds a running cluster alone, with its administrator's credentials.

With --out it writes a file that only you can read. A file that the shell makes, as with >, is usually
readable by every user of the machine, who then has all rights in the cluster; kubeconfig warns of that.`,
		Example: `  slipway cluster kubeconfig --out cluster.kubeconfig`,
		Args:    oneName,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("out") {
				return inv.session().WriteKubeconfig(cmd.Context(), clusterName(args), out)
			}
			return inv.session().PrintKubeconfig(cmd.Context(), clusterName(args))
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "write to this `file`, which only you can read, and print its name")
	return cmd
}
