package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/operation/devloop"
	"github.com/slipway-dev/slipway/internal/report"
)

// devCommand is `slipway dev`.
func (inv *invocation) devCommand() *cobra.Command {
	var l devloop.Loop
	cmd := &cobra.Command{
		Use:   "dev [flags] [-- ARGS…]",
		Short: "Run the manager on this machine, and again after each save",
		Long: `Dev is run that follows the files of the project. It uses the cluster of the current context, or starts
slipway's own. It generates, and installs the project's CRDs and those of other modules whose kinds it uses. Then it
builds and runs the manager, and has the cluster call its webhooks on this machine.

After each save it does what follows from it, in this order: generate if code or markers changed; apply changed CRDs and
roles; rebuild; restart. A later save gives up what an earlier one began. While a build fails, the manager that runs goes
on; calls of webhooks that come while none runs wait for the next one.

The manager has the rights of the ServiceAccount with which it is deployed, and no others; the namespace, the account,
its roles and bindings are applied as deploy would. --as admin gives it those of the kubeconfig's user.

Ctrl-C ends the manager, then the cluster's webhooks are as before, and a cluster that dev started stops unless --keep
is given. If dev is killed, the next slipway command on that cluster restores the webhooks.`,
		Example: `  slipway dev
  slipway dev --samples --test
  slipway dev --as admin -- --zap-log-level=debug`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if at := cmd.ArgsLenAtDash(); len(args) > 0 && at != 0 {
				return &report.Error{
					What: "arguments for the manager must follow --", Where: args[0],
					Next: cmd.CommandPath() + " -- " + strings.Join(args, " "), Code: report.UsageCode,
				}
			}
			l.Args = args
			return devloop.Run(cmd.Context(), inv.session(), l)
		},
	}
	f := cmd.Flags()
	f.StringVar(&l.Kubeconfig, "kubeconfig", "", "kubeconfig `file`; default: KUBECONFIG, else ~/.kube/config")
	f.StringVar(&l.As, "as", devloop.AsManager, "whose rights the manager has: manager, admin, or a ServiceAccount `[NAMESPACE/]NAME`")
	f.BoolVar(&l.Samples, "samples", false, "apply the samples, and again when they change")
	f.BoolVar(&l.Test, "test", false, "run the tests of changed packages after each save")
	f.BoolVar(&l.Keep, "keep", false, "leave a cluster running that dev started")
	f.BoolVar(&l.Poll, "poll", false, "look for changed files twice a second, for file systems that do not report them")
	f.BoolVar(&l.Force, "force", false, "take over fields of CRDs that other tools own")
	f.StringVar(&l.Address, "address", devloop.Loopback, "IP `address` at which the manager and slipway listen; 0.0.0.0 means all addresses of this machine")
	f.StringVar(&l.Webhooks, "webhook-address", "", "`address` at which the API server reaches slipway for the manager's webhooks, HOST or HOST:PORT; default: only clusters of slipway's own call them")
	bindManager(f, &l.Manager.Manager)
	return cmd
}
