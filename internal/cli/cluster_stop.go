package cli

import (
	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation"
)

func (inv *invocation) clusterStopCommand() *cobra.Command {
	return inv.ofCluster(&cobra.Command{
		Use:   "stop [NAME]",
		Short: "Stop a cluster and take its context out of the kubeconfig",
		Long: `Stop stops a cluster, by force if it does not answer, and undoes what start did: the context
leaves the kubeconfig, and the one that was current before is selected again. Data are removed
unless the cluster is durable; its logs stay. What a cluster that died left behind is tidied up.`,
	}, (*operation.Session).StopCluster)
}

func (inv *invocation) clusterDeleteCommand() *cobra.Command {
	return inv.ofCluster(&cobra.Command{
		Use:   "delete [NAME]",
		Short: "Stop a cluster and remove all that is kept of it, durable data too",
		Long: `Delete stops a cluster if it runs, as stop does, and removes everything that is kept of it: the
context in the kubeconfig, the logs, and the data also of a durable cluster. It does not ask.`,
	}, (*operation.Session).DeleteCluster)
}
