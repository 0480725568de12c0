package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation/devloop"
	"github.com/slipway-dev/slipway/internal/report"
)

// runCommand is `slipway run`.
func (inv *invocation) runCommand() *cobra.Command {
	var r devloop.Manager
	cmd := &cobra.Command{
		Use:   "run [flags] [-- ARGS…]",
		Short: "Build the manager and run it on this machine until Ctrl-C",
		Long: `Run builds the project's manager and runs it on this machine against the cluster of the current
context. It updates generated files first, and warns of kinds that a controller is for and the cluster does not serve.

The manager is the program that --manager names, that the Dockerfile builds, or that the Makefile's target run starts.
It gets that target's arguments, or the subcommand of its Deployment or image, and those after --. If the latter begin
with a subcommand, they replace the former. It gets the plain variables of the Deployment, but for those that patches
add, and those of the target, unless you have set them. Ctrl-C stops the manager; a second Ctrl-C kills it. The command
exits with the manager's exit status, and with 1 if the manager ends by itself without an error.

The manager listens at this machine's loopback address, 127.0.0.1, unless --address names another one. It serves
health probes at port 8081; if that is taken and no flag names another port, at a free one. A cluster of
slipway's own on this machine calls the project's webhooks through a proxy of slipway's, which has a free port.
When the run ends, the cluster's webhook configurations are restored. If the run is killed, the next slipway command on
that cluster restores them.

With --as manager the manager has the rights of the ServiceAccount with which it is deployed, as in a pod, and not
yours; the account, its roles and bindings are applied as deploy would. --as [NAMESPACE/]NAME names another account. In a
folder without Go code, run starts the program after -- with that kubeconfig: slipway run --as op -- ./op.py

The webhooks of every other cluster, such as one of kind, stay as they are. --webhook-address names where its API server
reaches this machine. It ignores failures of the webhooks until it has called that address and the manager serves.`,
		Example: `  slipway run
  slipway run --as manager
  slipway run -- --zap-log-level=debug
  slipway run --address 172.18.0.1 --webhook-address 172.18.0.1`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if at := cmd.ArgsLenAtDash(); len(args) > 0 && at != 0 {
				return &report.Error{
					What: "arguments for the manager must follow --", Where: args[0],
					Next: cmd.CommandPath() + " -- " + strings.Join(args, " "), Code: report.UsageCode,
				}
			}
			r.Args = args
			return devloop.Start(cmd.Context(), inv.session(), r)
		},
	}
	cmd.Flags().StringVar(&r.Kubeconfig, "kubeconfig", "", "kubeconfig `file` for the manager; default: KUBECONFIG, else ~/.kube/config")
	cmd.Flags().StringVar(&r.As, "as", devloop.AsAdmin, "whose rights the manager has: admin, manager, or a ServiceAccount `[NAMESPACE/]NAME`")
	cmd.Flags().StringVar(&r.As, "service-account", devloop.AsAdmin, "a ServiceAccount `[NAMESPACE/]NAME`; --as is the same")
	cmd.Flags().Lookup("service-account").Hidden = true
	cmd.Flags().StringVar(&r.Address, "address", devloop.Loopback, "IP `address` at which the manager listens; 0.0.0.0 means all addresses of this machine")
	cmd.Flags().StringVar(&r.Webhooks, "webhook-address", "", "`address` at which the API server reaches the manager's webhooks, HOST or HOST:PORT; default: only clusters of slipway's own call them")
	cmd.Flags().BoolVar(&r.Debug, "debug", false, "run the manager under Delve, which prints where debuggers can connect")
	bindManager(cmd.Flags(), &r.Manager)
	cmd.Flags().StringVar(&r.Guard, "guard", "", "`file` of a run, which that run itself gives")
	cmd.Flags().Lookup("guard").Hidden = true
	return cmd
}
