package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/operation/clusters"
	"github.com/slipway-dev/slipway/internal/report"
)

func (inv *invocation) clusterNodeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "node",
		Short: "Stop and start nodes, and add an isolated one",
		Long: `Stopping a node, like a machine that loses power, shows how an operator reacts to it. An isolated
node, which runs the containers of pods, can join a cluster with a simulated node.
'slipway kubectl get nodes' lists the nodes.`,
		Args: noSubcommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	addCommands(cmd,
		nodeCommand(inv, &cobra.Command{
			Use:   "stop NODE",
			Short: "Stop a node like a machine that loses power",
			Long: `Stop stops a node's heartbeats, like a machine that loses power. After a while the cluster
marks the node NotReady and evicts its pods. On an isolated or plain node, the processes of its pods end.`,
			Example: `  slipway cluster node stop simulated-1`,
		}, clusters.StopNode),
		nodeCommand(inv, &cobra.Command{
			Use:     "start NODE",
			Short:   "Start a stopped node again",
			Long:    `Start starts a stopped node again: it sends heartbeats, becomes Ready and runs pods.`,
			Example: `  slipway cluster node start simulated-1`,
		}, clusters.StartNode),
		inv.nodeJoinCommand(),
	)
	return cmd
}

// nodeCommand completes a command that does something to one node.
func nodeCommand[T any](inv *invocation, cmd *cobra.Command, do func(ctx context.Context, s *operation.Session, cluster, node string) (T, error)) *cobra.Command {
	var name string
	bindCluster(cmd.Flags(), &name)
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 && args[0] != "" {
			return nil
		}
		return &report.Error{What: cmd.CommandPath() + " takes the name of one node", Next: "slipway kubectl get nodes", Code: report.UsageCode}
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return done(do(cmd.Context(), inv.session(), name, args[0]))
	}
	return cmd
}

func (inv *invocation) nodeJoinCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "join",
		Short: "Add an isolated node to a cluster with a simulated one",
		Long: `Join adds an isolated node to a cluster that was started with default nodes. Pods whose images are in the cluster's
registry run on it as containers; all others stay on the simulated node. 'slipway image load' does the same. Use join
for images that another program pushed. Slipway compiles the node's program if it is missing. If there is an isolated
node already, nothing changes.`,
		Example: `  slipway cluster node join`,
		Args:    noArgs,
	}
	var name string
	bindCluster(cmd.Flags(), &name)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return done(clusters.JoinNode(cmd.Context(), inv.session(), name))
	}
	return cmd
}
