package cli

import (
	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation/clusters"
)

func (inv *invocation) clusterStatusCommand() *cobra.Command {
	return ofCluster(inv, &cobra.Command{
		Use:   "status [NAME]",
		Short: "Show the state of a cluster and its components",
		Long: `Status shows the state of a cluster and of each component. It lists the addresses on this machine
of Ingresses and of Services of the type LoadBalancer. It also shows how much of the disk images and
volumes take, and warns of webhooks that a killed slipway run has left. It exits with status 1 if the cluster was not started, died, or does not answer.`,
	}, clusters.ShowStatus)
}

func (inv *invocation) clusterListCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the clusters",
		Long:    `List lists running clusters, clusters that died, and stopped clusters that kept their data.`,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return done(clusters.List(cmd.Context(), inv.session()))
		},
	}
}
