package cli

import (
	"github.com/spf13/cobra"
)

// kubectlCommand is `slipway kubectl`. It leaves every flag to kubectl, also
// those that slipway has itself.
func (inv *invocation) kubectlCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "kubectl ARGS…",
		Short: "Run kubectl against the current context",
		Long: `Kubectl runs the kubectl that slipway compiles together with the slipway-cluster program. It passes on the
arguments, the kubeconfig and the exit status. Until that is compiled, it runs the kubectl on PATH.`,
		Example: `  slipway kubectl apply -f config/samples/
  slipway kubectl get pods --watch`,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			return inv.session().Kubectl(cmd.Context(), args)
		},
	}
}
