package suites

import (
	"cmp"
	"context"
	"os"
	"slices"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/dev"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/operation/delivery"
	"github.com/slipway-dev/slipway/internal/operation/generation"
	"github.com/slipway-dev/slipway/internal/report"
)

// A Run is how to run the project's manager on this machine.
type Run struct {
	Args       []string // of the manager
	Kubeconfig string   // file for the manager; "" leaves it to its environment
	Address    string   // IP address for the manager to listen on
	Manager    string   // folder of its main package, if there are several
	Guard      string   // record of a run: only wait for its end and restore what it changed
	Account    string   // ServiceAccount to run as, NAME or NAMESPACE/NAME; "" means the user
	Webhooks   string   // where another cluster's API server reaches the webhooks; see [dev.Options]
}

// Loopback is the default address on which a manager listens.
const Loopback = dev.Loopback

// RunManager generates, builds the manager, and runs it until it or ctx ends.
func RunManager(ctx context.Context, s *operation.Session, r Run) error {
	if r.Guard != "" {
		return guardRun(ctx, s, r)
	}
	if operation.WithoutGo(s) {
		return runProgram(ctx, s, r)
	}
	root, err := s.ReadRoot()
	if err != nil {
		return err
	}
	own, err := os.Executable()
	if err != nil {
		return err
	}
	o := devOptions(s, root, generation.Generation{})
	if err := s.Codebase(root).Choose(r.Manager); err != nil {
		return err
	}
	o.Code = func() *codebase.Codebase {
		code := s.Codebase(root)
		_ = code.Choose(r.Manager) // checked above
		return code
	}
	o.Guard = []string{own, "run", "--guard"}
	o.Address, o.WebhookAddress, o.Account = r.Address, r.Webhooks, r.Account
	if o.State, err = operation.StateFolder(s); err != nil {
		return err
	}
	if r.Kubeconfig != "" {
		o.Env = append(o.Env, "KUBECONFIG="+r.Kubeconfig)
	}
	return dev.Run(ctx, o, r.Args)
}

// guardRun waits for the end of a run and restores what that could not restore itself.
func guardRun(ctx context.Context, s *operation.Session, r Run) (err error) {
	o := devOptions(s, "", generation.Generation{})
	if o.State, err = operation.StateFolder(s); err != nil {
		return err
	}
	if r.Kubeconfig != "" {
		o.Env = append(o.Env, "KUBECONFIG="+r.Kubeconfig)
	}
	return dev.Guard(ctx, o, r.Guard, s.Stdin)
}

// devOptions returns the options of the dev loop for this session, with children running in dir.
func devOptions(s *operation.Session, dir string, g generation.Generation) dev.Options {
	return dev.Options{
		Dir:      dir,
		Env:      slices.Clone(s.Environ),
		Stdout:   s.Output,
		Stderr:   s.Stderr,
		Handler:  s.Handler,
		Generate: func(ctx context.Context, root string) error { return generation.Regenerate(ctx, s, root, g) },
	}
}

// runProgram runs the program that the arguments name, for operators without Go code.
func runProgram(ctx context.Context, s *operation.Session, r Run) error {
	if len(r.Args) == 0 {
		all, err := s.Codebase(s.Dir).Config()
		if err == nil && len(delivery.DeployableFolders(all)) == 0 {
			err = operation.NoProject(s)
		}
		return cmp.Or[error](err, &report.Error{
			What: "no project in this folder", Where: s.Dir, Hint: "without Go code, name the operator's program", Next: "slipway run -- ./PROGRAM", Code: report.UsageCode,
		})
	}
	o := devOptions(s, s.Dir, generation.Generation{})
	o.Account = r.Account
	if r.Kubeconfig != "" {
		o.Env = append(o.Env, "KUBECONFIG="+r.Kubeconfig)
	}
	return dev.RunProgram(ctx, o, r.Args[0], r.Args[1:])
}
