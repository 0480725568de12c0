package cli

import (
	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation/clusters"
)

func (inv *invocation) clusterResetCommand() *cobra.Command {
	return ofCluster(inv, &cobra.Command{
		Use:   "reset [NAME]",
		Short: "Restore a running cluster to the state in which it became ready",
		Long: `Reset restores a running cluster within milliseconds to the state in which it became ready. Objects
created since then are deleted, CRDs included; changed and deleted ones are restored. The
address, the context, the configuration and the process stay. Stopped nodes
start again. Reset does not prompt.

After 'slipway cluster keep', reset restores the kept state instead.

A durable cluster is restored to the state of its last start, on disk, too.`,
	}, clusters.Reset)
}

func (inv *invocation) clusterKeepCommand() *cobra.Command {
	return ofCluster(inv, &cobra.Command{
		Use:   "keep [NAME]",
		Short: "Make the present state of a cluster the one that reset restores",
		Long: `Keep records the objects of a running cluster, and 'slipway cluster reset' then restores these instead of
the state in which the cluster became ready. CRDs, webhooks and namespaces that a test or a
demonstration begins with survive resets that way. Keep first waits until CRDs are served
and pods are placed. It does not record events.

The record holds until the next keep, or until the cluster stops.`,
		Example: `  slipway cluster start
  slipway kubectl apply -k config/crd
  slipway kubectl apply -k config/samples
  slipway cluster keep
  slipway cluster reset     # as often as you like`,
	}, clusters.Keep)
}
