package cli

import (
	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation"
)

func (inv *invocation) clusterStatusCommand() *cobra.Command {
	return inv.ofCluster(&cobra.Command{
		Use:   "status [NAME]",
		Short: "Tell what a cluster and each of its components is doing",
		Long: `Status reports what a cluster and each of its components is doing, and where Services of the type
LoadBalancer and Ingresses answer on this machine. It exits with status 1 when the cluster was not
started, died, or does not answer.`,
	}, (*operation.Session).ClusterStatus)
}

func (inv *invocation) clusterListCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the clusters",
		Long:    `List lists the clusters that run, that died, and that are stopped and have kept their data.`,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return inv.session().ListClusters(cmd.Context())
		},
	}
}
