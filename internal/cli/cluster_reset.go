package cli

import (
	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation"
)

func (inv *invocation) clusterResetCommand() *cobra.Command {
	return inv.ofCluster(&cobra.Command{
		Use:   "reset [NAME]",
		Short: "Take a running cluster back to where it was when it became ready",
		Long: `Reset makes a running cluster as good as new, within milliseconds: objects that were made since it
became ready are gone, CRDs included, and those that it began with are as they were. The
address, the context and the configuration stay, and so does the process. Stopped nodes
run again. It does not ask.

After 'slipway cluster keep' it goes back to what was kept instead.

A durable cluster goes back to what it held when it was started last, on disk, too.`,
	}, (*operation.Session).ResetCluster)
}

func (inv *invocation) clusterKeepCommand() *cobra.Command {
	return inv.ofCluster(&cobra.Command{
		Use:   "keep [NAME]",
		Short: "Have resets of a running cluster lead back to what it holds now",
		Long: `Keep takes what a running cluster holds for what 'slipway cluster reset' goes back to, in place of
what there was when it became ready: CRDs, webhooks, namespaces and whatever else a test or a
demonstration begins with then stay over resets. It waits until what was begun is finished: CRDs
are served, pods are where they go. Events are not kept.

It holds until the next keep, or until the cluster stops.`,
		Example: `  slipway cluster start
  slipway kubectl apply -f config/crd/bases -f config/samples
  slipway cluster keep
  slipway cluster reset     # as often as you like`,
	}, (*operation.Session).KeepCluster)
}
