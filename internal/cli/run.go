package cli

import (
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/dev"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ui"
)

// runCommand is `slipway run`.
func (inv *invocation) runCommand() *cobra.Command {
	var kubeconfig, address string
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
			root, err := inv.projectRoot()
			if err != nil {
				return err
			}
			o := inv.devOptions(root)
			o.Address = address
			if o.State, err = inv.stateFolder(); err != nil {
				return err
			}
			if kubeconfig != "" {
				o.Env = append(o.Env, "KUBECONFIG="+kubeconfig)
			}
			return dev.Run(cmd.Context(), o, args)
		},
	}
	cmd.Flags().StringVar(&kubeconfig, "kubeconfig", "", "kubeconfig `file` for the manager; default: KUBECONFIG, else ~/.kube/config")
	cmd.Flags().StringVar(&address, "address", dev.Loopback, "IP `address` at which the manager listens; 0.0.0.0 is all of this machine's")
	return cmd
}

// devOptions are what the dev loop gets of this invocation, for children in dir.
func (inv *invocation) devOptions(dir string) dev.Options {
	return dev.Options{
		Dir:      dir,
		Env:      os.Environ(),
		Stdout:   inv.childStdout(),
		Stderr:   inv.Stderr,
		Handler:  inv.handler,
		Generate: inv.regenerate,
	}
}

// childStdout is where children write: stdout, unless that is for JSON lines only.
func (inv *invocation) childStdout() io.Writer {
	if inv.output == ui.JSON {
		return inv.Stderr
	}
	return inv.Stdout
}
