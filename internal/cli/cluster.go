package cli

import (
	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation"
)

// clusterCommand is `slipway cluster`.
func (inv *invocation) clusterCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cluster",
		Short: "Start, look at, reset and stop embedded Kubernetes clusters",
		Long: `An embedded cluster is the stock Kubernetes API server with etcd, the stock controllers and
scheduler, in one process on this machine. Only its nodes are simulated: pods pass
through their phases, and nothing runs in them. It is ready in about a second.

Several clusters can run at once; each has a name, "` + operation.DefaultCluster + `" unless another is given, and
a context of that name in the kubeconfig: "` + operation.ClusterContext("NAME") + `".

The program behind it, slipway-cluster, is looked for in SLIPWAY_CLUSTER, beside slipway
and in the cache folder. If it is nowhere, it is compiled once, which takes minutes.

Environment:
  SLIPWAY_CLUSTER   path of the slipway-cluster program
  SLIPWAY_SOURCE    checkout of slipway's sources to compile the program from
  SLIPWAY_CACHE     folder for the compiled program (default: slipway in the user's cache folder)
  SLIPWAY_STATE     folder for the clusters' state (default: ~/.local/state/slipway)
  KUBECONFIG        files that the contexts are entered into (default: ~/.kube/config)`,
		Args: noSubcommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	addCommands(cmd,
		inv.clusterBuildCommand(), inv.clusterStartCommand(), inv.clusterStopCommand(), inv.clusterDeleteCommand(), inv.clusterResetCommand(),
		inv.clusterKeepCommand(), inv.clusterStatusCommand(), inv.clusterListCommand(), inv.clusterKubeconfigCommand(), inv.clusterLogsCommand(), inv.clusterNodeCommand(),
		inv.clusterAddCommand(), inv.clusterRemoveCommand(),
	)
	return cmd
}
