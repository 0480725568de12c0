// Package cli is the slipway command line: one file per verb, each of which
// turns flags into one call of an operation and lets its events out
// through package ui.
//
// [Main] runs a whole invocation and returns its exit code; nothing below it
// ends the process, prints by itself or reads the environment directly.
package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/klog/v2"

	"github.com/slipway-dev/slipway/internal/collector"
	"github.com/slipway-dev/slipway/internal/ending"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/operation/projects"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ui"
)

// Env is what an invocation gets from its process.
type Env struct {
	Name   string   // what the program was called as; some names are verbs
	Args   []string // without the program's name
	Dir    string   // working directory
	Getenv func(string) string
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	// Collector decides when garbage is collected; nil leaves that as it is.
	Collector *collector.Collector
	// Program is the file of this program; "" in tests that call it as a function.
	Program string
}

// Process returns the Env of the running process.
func Process() Env {
	dir, err := os.Getwd()
	if err != nil {
		dir = "." // a removed working directory: relative paths will say so
	}
	program, _ := os.Executable() // without it programs cannot call this one
	return Env{Program: program, Name: os.Args[0], Args: os.Args[1:], Dir: dir, Getenv: os.Getenv, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Collector: collector.Begin(os.Getenv("GOMEMLIMIT"))}
}

// invocation is one run of the command: its environment and what all verbs share.
type invocation struct {
	Env
	output  string // --output: text or json
	verbose bool
	handler report.Handler // set before a verb runs
	drawn   atomic.Bool    // a screen is on the terminal, to which nothing else may write
	lines   *bufio.Reader  // stdin, once a question was asked
}

// Main runs the command and returns the process's exit code. The first interrupt
// cancels the context, so that a verb can end what it started: see package ending. The second one
// kills the process as usual.
func Main(ctx context.Context, env Env) int {
	if code, is := projects.StandIn(env.Args, env.Stdout, env.Stderr); is {
		return code
	}
	env.Args = append(calledAs(env.Name), env.Args...)
	ctx, stop := signal.NotifyContext(klog.NewContext(ctx, logr.Discard()), endSignals()...) // client-go returns the errors that it logs
	defer stop()
	go func() {
		<-ctx.Done()
		stop()
	}()
	ctx, give := context.WithCancelCause(ctx)
	defer give(nil)
	env.Collector.Watch(func(bytes int64) { give(tooMuchMemory(bytes)) })
	inv := &invocation{Env: env, output: requestedOutput(env.Args)}
	err := inv.openHandler() // for mistakes in the command line itself
	if err != nil {
		return ui.Fail(inv.handler, err)
	}
	code, handler := make(chan int, 1), inv.handler // a verb that is left behind may be choosing its own
	cut := ending.Run(ctx, func(ctx context.Context) error {
		err := execute(ctx, inv.root(), inv.Args)
		if full, is := errors.AsType[*report.Error](context.Cause(ctx)); is && err != nil {
			err = full
		}
		code <- ui.Fail(inv.handler, err)
		return nil
	}, func(what []string) {
		if inv.drawn.Load() {
			return // the screen shows it
		}
		handler.Handle(report.Note{Text: "waiting for " + strings.Join(what, ", ") + " to end"})
	})
	if cut == nil {
		return <-code
	}
	go func() { code <- ui.Fail(handler, cut) }()
	select {
	case c := <-code:
		return c
	case <-time.After(ending.Patience / 2): // nothing reads the output, which may be why the verb did not end
		return ui.Fail(report.Discard, cut)
	}
}

// tooMuchMemory ends a command that has more in memory than a number of bytes: a few lines of YAML or JSON, which may
// be a stranger's, can ask for any amount.
func tooMuchMemory(bytes int64) *report.Error {
	return &report.Error{
		What: fmt.Sprintf("the command was stopped because it took more than %d MiB of memory", bytes>>20),
		Hint: fmt.Sprintf("look for a file that repeats keys or copies parts of itself; GOMEMLIMIT=%dMiB in the environment allows twice as much", bytes>>20),
	}
}

// execute runs the verb that the arguments name. Cobra does not tell its function for mistakes
// in flags of those that stand before the verb.
func execute(ctx context.Context, root *cobra.Command, args []string) error {
	cmd, err := root.ExecuteContextC(ctx)
	if _, reported := errors.AsType[*report.Error](err); !reported && inFlags(err) {
		return flagError(cmd, args, err)
	}
	return withHelp(cmd, withCodesOf(cmd, err))
}

// hasOthersCodes reports whether a command ends with the exit codes of the program that it runs or stands for.
func hasOthersCodes(cmd *cobra.Command) bool {
	for cmd.HasParent() && cmd.Parent().HasParent() {
		cmd = cmd.Parent()
	}
	return slices.Contains([]string{"controller-gen", "kubectl", "kustomize", "run", "setup-envtest", "test"}, cmd.Name())
}

// withCodesOf keeps the exit code of a class from commands that end with another program's codes: there it may mean
// something else.
func withCodesOf(cmd *cobra.Command, err error) error {
	e, is := errors.AsType[*report.Error](err)
	if !is || e.Classified() == "" || !hasOthersCodes(cmd) {
		return err
	}
	plain := *e
	plain.Class, plain.Code = e.Classified(), cmp.Or(e.Code, 1)
	return &plain
}

// done is the error of an operation. Its value is for those who string operations together: a command shows what the
// operation reports.
func done[T any](_ T, err error) error { return err }

// withHelp advises the command's help about a flag whose value is missing or wrong, where the error advises nothing.
func withHelp(cmd *cobra.Command, err error) error {
	if e, ok := errors.AsType[*report.Error](err); ok && e.Next == "" && strings.HasPrefix(e.Where, "--") {
		e.Next = cmd.CommandPath() + " --help"
	}
	return err
}

// endSignals are what asks the command to end: an interrupt, a request, and a
// terminal that closes, unless nohup had that ignored.
func endSignals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// root assembles the command tree; verbs are listed in the order of an
// operator's life, which is how help shows them.
func (inv *invocation) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "slipway",
		Short: "Build, run, prove and ship Kubernetes operators",
		Long: `Slipway builds, runs, proves and ships Kubernetes operators. One command
scaffolds projects, generates code and manifests from their types, and starts clusters to run
and test them on. It needs only Go.

From nothing to a running operator:

  slipway init --domain example.com --repo example.com/my-operator
  slipway create api --group batch --version v1 --kind CronJob --resource --controller
  slipway generate                 after each change to types or markers
  slipway cluster start            ready in about a second
  slipway install                  the CRDs, into the cluster
  slipway run                      the operator, until Ctrl-C
  slipway test ./...               go test with a control plane
  slipway image build -t NAME      a container image, without a container engine

Projects made with kubebuilder work unchanged: the PROJECT file, the markers, the make
targets and the test variables are the same.

Exit codes: ` + exitCodes() + `.`,
		Args:             noSubcommand,
		RunE:             func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceErrors:    true,
		TraverseChildren: true, // flags before a verb are ours, also where the verb leaves its own to another program
		SilenceUsage:     true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := inv.openHandler(); err != nil {
				return err
			}
			if err := passGlobal(cmd); err != nil {
				return err
			}
			return strayFlags(cmd)
		},
	}
	root.Version = operation.ReadVersion().String()
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetArgs(inv.Args)
	root.SetIn(inv.Stdin)
	root.SetOut(inv.Stdout)
	root.SetErr(inv.Stderr)
	root.SetUsageFunc(usage)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return flagError(cmd, inv.Args, err) })
	root.CompletionOptions.DisableDefaultCmd = true
	root.PersistentFlags().SortFlags = false
	root.PersistentFlags().StringVar(&inv.output, "output", ui.Text, "how to report: `text` or json")
	root.PersistentFlags().BoolVarP(&inv.verbose, "verbose", "v", false, "report more of what is done and why")
	bindGlobal(root)
	addCommands(root, needed(inv.verbs(), inv.Args)...)
	if len(inv.Args) > 0 && strings.HasPrefix(inv.Args[0], cobra.ShellCompRequestCmd) {
		inv.completeWith(root)
	}
	return root
}

// exitCodes lists all exit codes with their meanings.
func exitCodes() string {
	codes := []string{"0 done", "1 failed", fmt.Sprintf("%d a mistake on the command line", report.UsageCode)}
	for _, c := range report.Classes() {
		codes = append(codes, fmt.Sprintf("%d %s", c.Code, c.Meaning))
	}
	return strings.Join(append(codes, fmt.Sprintf("%d interrupted", interruptedCode)), ",\n")
}

// session is what the operations of this invocation share. It is made when a verb runs, since flags say how events
// are shown.
func (inv *invocation) session() *operation.Session {
	s := &operation.Session{
		Dir: inv.Dir, Getenv: inv.Getenv, Handler: inv.handler, Verbose: inv.verbose, Stdin: inv.Stdin, Stdout: inv.Stdout, Stderr: inv.Stderr,
		Environ: os.Environ(), Program: inv.Program, Output: inv.childStdout(), Fail: func(err error) { ui.Fail(inv.handler, err) }, Collector: inv.Collector,
	}
	if inv.interactive() {
		s.Ask = inv.ask
	}
	return s
}

// childStdout is where children write: stdout, unless that is for JSON lines only.
func (inv *invocation) childStdout() io.Writer {
	if inv.output == ui.JSON {
		return inv.Stderr
	}
	return inv.Stdout
}

// openHandler chooses how events are shown, once flags are known.
func (inv *invocation) openHandler() error {
	handler, err := ui.New(inv.Stdout, inv.Stderr, ui.Options{
		Format: inv.output, Verbose: inv.verbose, Getenv: inv.Getenv, Dir: inv.Dir,
	})
	if err == nil {
		inv.handler = handler
	}
	return err
}
