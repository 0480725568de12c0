package cli

import (
	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation/delivery"
	"github.com/slipway-dev/slipway/internal/ui"
)

// kubectlCommand is `slipway kubectl`. It leaves every flag to kubectl, also
// those that slipway has itself.
func (inv *invocation) kubectlCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "kubectl ARGS…",
		Short: "Run kubectl against the current context",
		Long: `Kubectl runs the kubectl of the embedded Kubernetes. It passes on the arguments, the kubeconfig and the
exit status. As long as that is not compiled, it runs the kubectl on PATH, and prints its path. If PATH has
none, it compiles its own once; "slipway cluster build" does so beforehand.

With --output json before the command, kubectl prints JSON if its command can, and slipway reports that as a result.
Slipway reports all other output line by line.`,
		Example: `  slipway kubectl apply -k config/samples
  slipway kubectl get pods --watch
  slipway --output json kubectl get pods`,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			return delivery.Kubectl(cmd.Context(), inv.session(), calledAs(inv.Name) != nil, inv.output == ui.JSON, args)
		},
	}
}
