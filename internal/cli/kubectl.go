package cli

import (
	"context"
	"errors"
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
		Long: `Kubectl runs the kubectl that is compiled together with the slipway-cluster program, with the
arguments and the kubeconfig given and with its exit status. As long as that has not been compiled,
the kubectl on PATH is used.`,
		Example: `  slipway kubectl apply -f config/samples/
  slipway kubectl get pods --watch`,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := inv.kubectl(cmd.Context())
			if err != nil {
				return err
			}
			inv.takeBackBeforeKubectl(cmd.Context(), args)
			return become(append([]string{path}, args...), os.Environ())
		},
	}
}

// errNoKubectl is why a program that the user named does not do for kubectl.
var errNoKubectl = errors.New("slipway-kubectl is not there")

// isThisProgram tells whether a path leads to the running program, as a link called kubectl may.
func isThisProgram(path string) bool {
	own, err := os.Executable()
	if err != nil {
		return false
	}
	ours, err := os.Stat(own)
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return err == nil && os.SameFile(ours, there)
}

// kubectl returns the path of kubectl: ours, or else the one on PATH, or else ours once it is compiled.
func (inv *invocation) kubectl(ctx context.Context) (path string, err error) {
	path, ok, err := inv.clusters().FindKubectl(ctx)
	if ok || err != nil {
		return path, err
	}
	if path, err := exec.LookPath("kubectl"); err == nil && !isThisProgram(path) {
		return path, nil
	}
	inv.handler.Handle(report.Note{Text: "there is no kubectl on PATH; the cluster program's is compiled first"})
	path, ok, err = inv.clusters().Kubectl(ctx)
	if err == nil && !ok {
		err = &report.Error{What: "there is no kubectl beside the cluster program, nor on PATH", Where: path, Err: errNoKubectl,
			Hint: "slipway-kubectl is built together with slipway-cluster and belongs into its folder; unset SLIPWAY_CLUSTER to let slipway build both"}
	}
	return path, err
}
