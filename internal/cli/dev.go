package cli

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/slipway-dev/slipway/internal/operation/devloop"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ui"
	"github.com/slipway-dev/slipway/internal/ui/devscreen"
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
			return inv.dev(cmd.Context(), l)
		},
	}
	f := cmd.Flags()
	f.StringVar(&l.Kubeconfig, "kubeconfig", "", "kubeconfig `file`; default: KUBECONFIG, else ~/.kube/config")
	f.StringVar(&l.As, "as", devloop.AsManager, "whose rights the manager has: manager, admin, or a ServiceAccount `[NAMESPACE/]NAME`")
	f.BoolVar(&l.Samples, "samples", false, "apply the samples, and again when they change")
	f.BoolVar(&l.Test, "test", false, "run the tests of changed packages after each save")
	f.BoolVar(&l.Keep, "keep", false, "leave a cluster running that dev started")
	f.BoolVar(&l.Poll, "poll", false, "look for changed files twice a second, for file systems that do not report them")
	f.BoolVar(&l.PauseDeployed, "pause-deployed", false, "scale a deployed copy of the operator to zero until the end")
	f.BoolVar(&l.Force, "force", false, "apply changes of CRDs although they break objects in the cluster")
	f.BoolVar(&l.ForceConflicts, "force-conflicts", false, "take over fields of CRDs that other tools own")
	f.StringVar(&l.Address, "address", devloop.Loopback, "IP `address` at which the manager and slipway listen; 0.0.0.0 means all addresses of this machine")
	f.StringVar(&l.Webhooks, "webhook-address", "", "`address` at which the API server reaches slipway for the manager's webhooks, HOST or HOST:PORT; default: only clusters of slipway's own call them")
	f.BoolVar(&l.Debug, "debug", false, "run the manager under Delve, which prints where debuggers can connect")
	bindManager(f, &l.Manager.Manager)
	return cmd
}

// dev runs the dev loop: on a screen if there is a terminal, and else with a line for each event.
func (inv *invocation) dev(ctx context.Context, l devloop.Loop) error {
	input, output, ok := inv.terminal()
	if !ok {
		return devloop.Run(ctx, inv.session(), l)
	}
	keys, commands := make(chan devscreen.Command, 1), make(chan devloop.Command)
	l.Commands = commands
	o := devscreen.Options{Input: input, Output: output, Environ: os.Environ(), Color: inv.Getenv("NO_COLOR") == "", Dir: inv.Dir, Commands: keys,
		Available: []devscreen.Command{devscreen.Restart, devscreen.ApplySamples, devscreen.RunTests, devscreen.Debug, devscreen.LogLevel, devscreen.AddMarker, devscreen.Pause, devscreen.Page}}
	inv.drawn.Store(true)
	defer inv.drawn.Store(false)
	worked := make(chan struct{})
	err := devscreen.Run(ctx, o, func(ctx context.Context, h report.Handler) error {
		defer close(worked)
		go func() {
			for {
				select {
				case <-ctx.Done():
					return
				case c := <-keys:
					commands <- devloop.Command(c)
				}
			}
		}()
		s := inv.session()
		lines := lineWriter{h}
		s.Handler, s.Stdout, s.Output, s.Stderr, s.Ask = h, lines, lines, lines, nil
		return devloop.Run(ctx, s, l)
	})
	if errors.Is(err, devscreen.ErrKilled) {
		endChildren(worked)
		return &report.Error{What: "ended at once", Err: err, Hint: "the cluster's webhooks are restored by the next slipway command on it", Code: interruptedCode}
	}
	return err
}

// endPatience is how long children may take to end that are killed, and the cluster's webhooks to be restored.
const endPatience = 5 * time.Second

// endChildren has what waits for a child's end kill it, as a second Ctrl-C at a terminal that is read by lines does.
func endChildren(worked <-chan struct{}) {
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Signal(os.Interrupt) // Windows has no such signal; children end with this process there
	}
	select {
	case <-worked:
	case <-time.After(endPatience):
	}
}

// interruptedCode is the exit code after an interrupt.
const interruptedCode = 130

// terminal returns the terminal that people read and type at; ok is false if there is none, or lines are asked for.
func (inv *invocation) terminal() (input, output *os.File, ok bool) {
	input, reads := inv.Stdin.(*os.File)
	output, writes := inv.Stdout.(*os.File)
	if !reads || !writes || inv.output == ui.JSON || inv.Getenv("TERM") == "dumb" {
		return nil, nil, false
	}
	return input, output, term.IsTerminal(int(input.Fd())) && term.IsTerminal(int(output.Fd()))
}

// lineWriter shows what programs print as notes.
type lineWriter struct{ handler report.Handler }

// Write shows each line of a text, which is taken for whole lines.
func (w lineWriter) Write(text []byte) (int, error) {
	for line := range strings.Lines(string(text)) {
		w.handler.Handle(report.Output{Part: report.InstallPart, Text: strings.TrimRight(line, "\r\n")})
	}
	return len(text), nil
}
