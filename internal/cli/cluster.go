package cli

import (
	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation/clusters"
)

// clusterCommand is `slipway cluster`.
func (inv *invocation) clusterCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cluster",
		Short: "Start, look at, reset and stop embedded Kubernetes clusters",
		Long: `An embedded cluster is the stock Kubernetes API server with etcd, the stock controllers and
the stock scheduler, in one process on this machine. It is ready in about a second. Only its
nodes are simulated: pods pass through their phases, and no container runs in them.

Several clusters can run at once; each has a name, "` + clusters.DefaultCluster + `" unless another is given, and
a context of that name in the kubeconfig: "` + clusters.ClusterContext("NAME") + `".

Slipway looks for the program behind it, slipway-cluster, in SLIPWAY_CLUSTER, beside slipway
and in the cache folder. If none is there, slipway compiles it once, which takes minutes.

Environment:
  SLIPWAY_CLUSTER   path of the slipway-cluster program
  SLIPWAY_SOURCE    checkout of slipway's sources to compile the program from
  SLIPWAY_CACHE     folder for the compiled program (default: slipway in the user's cache folder)
  SLIPWAY_STATE     folder for the clusters' state (default: ~/.local/state/slipway)
  KUBECONFIG        files that contexts are written to (default: ~/.kube/config)`,
		Args: noSubcommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	addCommands(cmd,
		inv.clusterBuildCommand(), inv.clusterStartCommand(), inv.clusterStopCommand(), inv.clusterDeleteCommand(), inv.clusterResetCommand(),
		inv.clusterKeepCommand(), inv.clusterPruneCommand(), inv.clusterStatusCommand(), inv.clusterListCommand(), inv.clusterKubeconfigCommand(), inv.clusterLogsCommand(), inv.clusterNodeCommand(),
		inv.clusterAddCommand(), inv.clusterRemoveCommand(),
	)
	return cmd
}
