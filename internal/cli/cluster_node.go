package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/report"
)

func (inv *invocation) clusterNodeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "node",
		Short: "Lose simulated nodes, and bring them back",
		Long: `A simulated node can be stopped, like a machine whose power is cut, to see what an operator makes of
it. 'slipway kubectl get nodes' lists the nodes; 'slipway cluster start' says which there are.`,
		Args: noSubcommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	control := inv.clusters
	addCommands(cmd,
		inv.nodeCommand(&cobra.Command{
			Use:   "stop NODE",
			Short: "Stop a node without a word to anybody",
			Long: `Stop makes a simulated node fall silent, as one does whose machine loses power. After a while the cluster
notices that it does not report: the node becomes NotReady and its pods are evicted.`,
			Example: `  slipway cluster node stop node-1`,
		}, "is stopped", func(ctx context.Context, cluster, node string) error { return control().StopNode(ctx, cluster, node) }),
		inv.nodeCommand(&cobra.Command{
			Use:     "start NODE",
			Short:   "Bring back a node that was stopped",
			Long:    `Start brings back a simulated node that was stopped: it reports again, becomes Ready and runs pods.`,
			Example: `  slipway cluster node start node-1`,
		}, "is started", func(ctx context.Context, cluster, node string) error { return control().StartNode(ctx, cluster, node) }),
	)
	return cmd
}

// nodeCommand completes a command that does something to one node, after which the node is done.
func (inv *invocation) nodeCommand(cmd *cobra.Command, done string, do func(ctx context.Context, cluster, node string) error) *cobra.Command {
	name := cmd.Flags().String("name", clusterctl.DefaultName, "`name` of the cluster")
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 && args[0] != "" {
			return nil
		}
		return &report.Error{What: cmd.CommandPath() + " takes the name of one node", Next: "slipway kubectl get nodes", Code: usageCode}
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := do(cmd.Context(), *name, args[0]); err != nil {
			return err
		}
		value := struct {
			Cluster string `json:"cluster"`
			Node    string `json:"node"`
		}{*name, args[0]}
		inv.handler.Handle(report.Result{Text: "node " + args[0] + " " + done, Value: value})
		return nil
	}
	return cmd
}
