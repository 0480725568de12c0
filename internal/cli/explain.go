package cli

import (
	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation/delivery"
	"github.com/slipway-dev/slipway/internal/report"
)

// explainCommand is `slipway explain`.
func (inv *invocation) explainCommand() *cobra.Command {
	var e delivery.Explanation
	cmd := &cobra.Command{
		Use:   "explain KIND NAME",
		Short: "Say why an object is as it is",
		Long: `Explain looks at an object of the cluster of the current context, and writes nothing there. Its first line has
the state of the object and, if it is not ready, the cause:

  ready          nothing is wrong with it, nor with what it owns
  in progress    it is not ready yet, and nothing is wrong so far
  not ready      with the cause that explains the most
  stuck          its deletion does not end: who has to do what
  missing        it does not exist, and what keeps it from being created

Causes are looked for in the object and in all that it owns, down to the containers of pods: images, crashes, volumes,
quotas, scheduling. They are also looked for in what decides about it: its owners, its CRD, the webhooks that are called
for it, and the operator that 'slipway deploy' has deployed with its CRD. Below that, explain shows what the object owns.

KIND is named as for kubectl: a kind, a plural or a short name, if need be with its group, such as 'certificates.cert-manager.io'.`,
		Example: `  slipway explain deployment web
  slipway explain frigate first -n fleet
  slipway explain namespace shop
  slipway explain pod web-6f7d8 --output json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 2 {
				return nil
			}
			return &report.Error{What: "explain needs a kind and a name", Where: cmd.CommandPath(), Hint: "expected two arguments, such as deployment web", Next: "slipway explain --help", Code: report.UsageCode}
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			e.Kind, e.Name = args[0], args[1]
			return delivery.Explain(cmd.Context(), inv.session(), e)
		},
	}
	bindContext(cmd.Flags(), &e.In)
	cmd.Flags().StringVarP(&e.Namespace, "namespace", "n", "", "`namespace` of the object; default: that of the kubeconfig")
	cmd.Flags().BoolVar(&e.Tree, "tree", false, "show all that the object owns, not only the first ones")
	return cmd
}
