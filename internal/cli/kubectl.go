package cli

import (
	"context"
	"os"
	"os/exec"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/report"
)

// kubectlCommand is `slipway kubectl`. It leaves every flag to kubectl, also
// those that slipway has itself.
func (inv *invocation) kubectlCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "kubectl ARGS…",
		Short: "Run kubectl against the current context",
		Long: `Kubectl runs the kubectl that is part of the slipway-cluster program, with the arguments and
the kubeconfig given and with its exit status. As long as that program has not been compiled, the
kubectl on PATH is used.`,
		Example: `  slipway kubectl apply -f config/samples/
  slipway kubectl get pods --watch`,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			argv, err := inv.kubectl(cmd.Context())
			if err != nil {
				return err
			}
			return become(append(argv, args...), os.Environ())
		},
	}
}

// kubectl returns the beginning of the command line that runs kubectl.
func (inv *invocation) kubectl(ctx context.Context) ([]string, error) {
	path, ok, err := inv.clusters().FindProgram(ctx)
	switch {
	case err != nil:
		return nil, err
	case ok:
		return []string{path, "kubectl"}, nil
	}
	if path, err := exec.LookPath("kubectl"); err == nil {
		return []string{path}, nil
	}
	inv.handler.Handle(report.Note{Text: "there is no kubectl on PATH; the one in the cluster program is compiled first"})
	path, err = inv.clusters().Program(ctx)
	return []string{path, "kubectl"}, err
}
