package cli

import (
	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation/clusters"
)

func (inv *invocation) clusterStopCommand() *cobra.Command {
	return ofCluster(inv, &cobra.Command{
		Use:   "stop [NAME]",
		Short: "Stop a cluster and remove its context from the kubeconfig",
		Long: `Stop stops a cluster, by force if it does not answer. It removes the context from the kubeconfig
and selects the previous context again. It deletes the data unless the cluster is durable; the
logs stay. It also removes the remains of a cluster that died.`,
	}, clusters.Stop)
}

func (inv *invocation) clusterDeleteCommand() *cobra.Command {
	return ofCluster(inv, &cobra.Command{
		Use:   "delete [NAME]",
		Short: "Stop a cluster and delete all its files, durable data too",
		Long: `Delete stops a cluster if it runs, as stop does. It removes the context from the kubeconfig, the
logs, and the data, also those of a durable cluster. It does not prompt.`,
	}, clusters.Delete)
}
