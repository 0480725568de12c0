package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/report"
)

// runCommand is `slipway run`.
func (inv *invocation) runCommand() *cobra.Command {
	var r operation.Run
	cmd := &cobra.Command{
		Use:   "run [flags] [-- ARGS…]",
		Short: "Build the manager and run it on this machine until Ctrl-C",
		Long: `Run builds the project's manager and runs it on this machine against the cluster of the current
context. Generated files are brought up to date first.

What follows -- is passed to the manager. On Ctrl-C the manager is asked to stop and given time to;
a second Ctrl-C kills it. Its exit status becomes that of the command.

The manager listens at this machine's loopback address, 127.0.0.1, unless --address names another one. Health
probes are served at port 8081, or at a free one where that is taken and none is named. A cluster on this machine
asks the project's webhooks at port 9443; run refuses where another program serves there. When the run ends, the
cluster asks as it did before. If the run is killed, the next slipway command on that cluster sees to it.`,
		Example: `  slipway run
  slipway run -- --zap-log-level=debug`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if at := cmd.ArgsLenAtDash(); len(args) > 0 && at != 0 {
				return &report.Error{
					What: "arguments for the manager go after --", Where: args[0],
					Next: cmd.CommandPath() + " -- " + strings.Join(args, " "), Code: usageCode,
				}
			}
			r.Args = args
			return inv.session().Run(cmd.Context(), r)
		},
	}
	cmd.Flags().StringVar(&r.Kubeconfig, "kubeconfig", "", "kubeconfig `file` for the manager; default: KUBECONFIG, else ~/.kube/config")
	cmd.Flags().StringVar(&r.Address, "address", operation.Loopback, "IP `address` at which the manager listens; 0.0.0.0 is all of this machine's")
	return cmd
}
