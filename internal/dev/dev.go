// Package dev is the dev loop of an operator: what its author does between two
// thoughts.
//
//   - [Run] builds the project's manager and runs it on this machine, against a
//     cluster that is there already.
//   - [Test] is `go test` with a control plane: suites written with
//     controller-runtime's envtest find theirs without a download.
//
// Both bring generated files up to date first, as `make run` and `make test` do.
//
// Children are the user's programs, and treated so: their output is passed through as it is and their exit code becomes
// the command's. They are ended as they would be in production. Each gets a session of its own, so that a Ctrl-C at the
// terminal reaches it once, through slipway. The child is asked to stop (SIGINT), given a grace period, and killed
// after that or at a second Ctrl-C. No signal ends [Run] itself before it has given the cluster's webhooks back.
// Processes that a child leaves running are ended too, such as the control plane of an interrupted test suite. On Linux
// the kernel kills the child when slipway itself is killed hard.
package dev

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/ending"
	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/gocommand"
	"github.com/slipway-dev/slipway/internal/process"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ship"
)

// usualGrace is how long a child may take to stop: a little longer than
// controller-runtime's own default for its runnables, 30 s.
const usualGrace = 35 * time.Second

// Options are what [Run] and [Test] need of their caller.
type Options struct {
	Dir     string                    // Run: the project's folder; Test: where go test runs
	Code    func() *codebase.Codebase // Run: the facts of the project as its files are
	Files   fileview.View             // Test: the project's, where they have been read
	Env     []string                  // environment of children, as key=value; see os.Environ
	Stdout  io.Writer                 // of children
	Stderr  io.Writer                 // of children
	Handler report.Handler            // what slipway itself has to report
	Grace   time.Duration             // how long a child may take to stop; 0 means 35 seconds
	State   string                    // Run: the folder with the user's state
	Address string                    // Run: the IP address at which the manager listens; empty means Loopback
	// WebhookAddress is where the cluster's API server reaches the manager's webhooks, HOST or HOST:PORT (Run). If it
	// is empty, only a cluster of slipway's own calls them.
	WebhookAddress string

	// Account returns the ServiceAccount, NAME or NAMESPACE/NAME, whose rights the program that is run has; nil leaves
	// it the user's. It is called before each start of a manager.
	Account func(ctx context.Context, cluster *ship.Cluster) (string, error)
	As      string // how the user has named it, for messages
	Debug   bool   // Run: under Delve
	// WebhookPort is [Program.WebhookPort] of an earlier build, at which the manager stays (Run).
	WebhookPort string
	// LogLevel is the manager's, if it has the flag of controller-runtime's package log/zap; empty leaves it as it is.
	LogLevel string
	// Observed has the manager log where its reconciles begin and end, too, if nothing else sets its log level:
	// [Session.Observes] says so. The caller leaves out the lines that come with that.
	Observed bool
	Control  *clusterctl.Control // opens a door of slipway's own clusters for it
	Request  func(Request)       // receives what the program asks the cluster, if it is a ServiceAccount; may be nil

	// Guard is the command that calls [Guard] with the path that follows it, and with --kubeconfig if the manager has
	// that flag (Run). Without it, what a killed run changed in a cluster that is not slipway's own stays until the
	// next command.
	Guard []string

	alone bool // Run: the deployed operator is paused

	// Generate brings the generated files of the project in a folder up to date;
	// nil means that there are none.
	Generate func(ctx context.Context, root string) error
}

// generate brings the project in root up to date.
func (o Options) generate(ctx context.Context, root string) error {
	if o.Generate == nil {
		return nil
	}
	return o.Generate(ctx, root)
}

// grace is how long a child may take to stop.
func (o Options) grace() time.Duration { return cmp.Or(o.Grace, usualGrace) }

// run runs a program in dir.
func (o Options) run(ctx context.Context, program string, args ...string) error {
	cmd, err := process.Command(program, args...)
	if err != nil {
		return err
	}
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = o.Dir, o.Env, o.Stdout, o.Stderr
	defer ending.Await(ctx, filepath.Base(cmd.Path))()
	return process.Supervise(ctx, cmd, o.grace())
}

// goCommand prepares a run of the go command in dir.
func (o Options) goCommand(args ...string) gocommand.Command {
	return gocommand.Command{Dir: o.Dir, Env: o.Env, Args: args, Stdout: o.Stdout, Stderr: o.Stderr, Grace: o.grace()}
}

// unbuilt is ended for a compilation of the manager, which fails by a mistake in its code.
func unbuilt(err error) error {
	err = ended("the manager does not build", err)
	if e, ok := errors.AsType[*report.Error](err); ok && e.Code == 1 {
		e.Class, e.Code = report.BadProject, 0
	}
	return err
}

// ended makes the end of a child the end of the command: nil, a [report.Error] that says
// what failed and carries the child's exit code, or why it could not be started.
func ended(what string, err error) error {
	if err == nil {
		return nil
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return &report.Error{What: what, Err: err, Code: process.ExitCode(exit.ProcessState)}
	}
	if process.IsMissing(err) {
		return &report.Error{What: "the go command is not on PATH", Err: err, Hint: "install Go: https://go.dev/dl"}
	}
	if refused, ok := errors.AsType[*report.Error](err); ok {
		return refused
	}
	return &report.Error{What: what, Err: err}
}
