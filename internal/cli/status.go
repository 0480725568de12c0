package cli

import (
	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation/delivery"
	"github.com/slipway-dev/slipway/internal/report"
)

// statusCommand is `slipway status`.
func (inv *invocation) statusCommand() *cobra.Command {
	var o delivery.Operator
	cmd := &cobra.Command{
		Use:   "status [PROJECT]",
		Short: "Show what the operator in the cluster is like",
		Long: `Status looks at an operator in the cluster of the current context, and writes nothing there. It shows

  workloads      their images, and how many replicas are ready
  leader         the pod that holds the operator's Lease
  webhooks       the Service behind each, and whether it answers
  certificates   of the Secrets that the operator serves with, and when they end
  CRDs           the versions in which objects may be stored, and the number of objects
  objects        of the operator's kinds that are not ready, or that wait for finalizers to be deleted

The operator is that of this folder's project, or the one whose PROJECT is named. Status finds its objects by the
inventory that 'slipway deploy' writes. If there is none, it looks for the objects of the project's kustomization.

If something is not ready, status fails with the class not-ready. It lists what the user of the kubeconfig may not
read; that alone is no failure.`,
		Example: `  slipway status
  slipway status --context staging -n shop-system
  slipway status cronjob-operator
  slipway status --output json`,
		Args: atMostOneProject,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.Project = args[0]
			}
			return done(delivery.Status(cmd.Context(), inv.session(), o))
		},
	}
	bindContext(cmd.Flags(), &o.In)
	cmd.Flags().StringVarP(&o.Namespace, "namespace", "n", "", "`namespace` of the deployment in that cluster; default: the only one with a deployment")
	cmd.Flags().StringVarP(&o.Folder, "kustomize", "k", "", "`folder` of the kustomization to deploy; default: the one that the Makefile deploys")
	return cmd
}

// atMostOneProject refuses further arguments.
func atMostOneProject(cmd *cobra.Command, args []string) error {
	if len(args) <= 1 {
		return nil
	}
	return &report.Error{What: "status shows one operator", Where: args[1], Next: cmd.CommandPath() + " " + args[0], Code: report.UsageCode}
}
