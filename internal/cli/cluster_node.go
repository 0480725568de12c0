package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/report"
)

func (inv *invocation) clusterNodeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "node",
		Short: "Lose nodes, bring them back, and have a real one join",
		Long: `A node can be stopped, like a machine whose power is cut, to see what an operator makes of
it. A real node, which runs pods, can join a cluster with a simulated one. 'slipway kubectl get nodes' lists the nodes; 'slipway cluster start' says which there are.`,
		Args: noSubcommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	addCommands(cmd,
		inv.nodeCommand(&cobra.Command{
			Use:   "stop NODE",
			Short: "Stop a node without a word to anybody",
			Long: `Stop makes a node fall silent, as one does whose machine loses power. After a while the cluster
notices that it does not report: the node becomes NotReady and its pods are evicted. With a real node end the processes of its pods.`,
			Example: `  slipway cluster node stop simulated-1`,
		}, (*operation.Session).StopNode),
		inv.nodeCommand(&cobra.Command{
			Use:     "start NODE",
			Short:   "Bring back a node that was stopped",
			Long:    `Start brings back a node that was stopped: it reports again, becomes Ready and runs pods.`,
			Example: `  slipway cluster node start simulated-1`,
		}, (*operation.Session).StartNode),
		inv.nodeJoinCommand(),
	)
	return cmd
}

// nodeCommand completes a command that does something to one node.
func (inv *invocation) nodeCommand(cmd *cobra.Command, do func(s *operation.Session, ctx context.Context, cluster, node string) error) *cobra.Command {
	var name string
	bindCluster(cmd.Flags(), &name)
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 && args[0] != "" {
			return nil
		}
		return &report.Error{What: cmd.CommandPath() + " takes the name of one node", Next: "slipway kubectl get nodes", Code: usageCode}
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return do(inv.session(), cmd.Context(), name, args[0])
	}
	return cmd
}

func (inv *invocation) nodeJoinCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "join",
		Short: "Have a real node join a cluster with a simulated one",
		Long: `Join has a real node join a cluster that was started without a word about nodes: pods whose images are in the cluster's
registry run on it for real, all others on the simulated one. 'slipway image load' does that, too; join is for images
that another program pushed before the node's program was there. It is built if need be. If there is a real node, nothing changes.`,
		Example: `  slipway cluster node join`,
		Args:    noArgs,
	}
	var name string
	bindCluster(cmd.Flags(), &name)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return inv.session().JoinNode(cmd.Context(), name)
	}
	return cmd
}
