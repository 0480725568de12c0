package operation

import (
	"context"
	"os"
	"slices"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/dev"
)

// A Run is how to run the project's manager on this machine.
type Run struct {
	Args       []string // the manager's
	Kubeconfig string   // a file for the manager; empty leaves it to its environment
	Address    string   // IP address at which the manager listens
	Manager    string   // the folder of its main package, of several
	Guard      string   // the record of what a run has to restore: do that when the run has ended, and nothing else
	Account    string   // the ServiceAccount that the manager is in the cluster, NAME or NAMESPACE/NAME; empty for the user
	Webhooks   string   // where the API server of a cluster that is not slipway's own reaches them; see [dev.Options]
}

// Loopback is the address at which a manager listens unless another one is asked for.
const Loopback = dev.Loopback

// Run builds the manager and runs it until it ends or ctx does. Generated files are brought up to date first.
func (s *Session) Run(ctx context.Context, r Run) error {
	if r.Guard != "" {
		return s.guardRun(ctx, r)
	}
	if s.withoutGo() {
		return s.runProgram(ctx, r)
	}
	root, err := s.readRoot()
	if err != nil {
		return err
	}
	own, err := os.Executable()
	if err != nil {
		return err
	}
	o := s.devOptions(root, Generation{})
	if err := s.codebase(root).Choose(r.Manager); err != nil {
		return err
	}
	o.Code = func() *codebase.Codebase {
		code := s.codebase(root)
		_ = code.Choose(r.Manager) // it was there before
		return code
	}
	o.Guard = []string{own, "run", "--guard"}
	o.Address, o.WebhookAddress, o.Account = r.Address, r.Webhooks, r.Account
	if o.State, err = s.stateFolder(); err != nil {
		return err
	}
	if r.Kubeconfig != "" {
		o.Env = append(o.Env, "KUBECONFIG="+r.Kubeconfig)
	}
	return dev.Run(ctx, o, r.Args)
}

// guardRun waits for the end of a run, and restores what it could not.
func (s *Session) guardRun(ctx context.Context, r Run) (err error) {
	o := s.devOptions("", Generation{})
	if o.State, err = s.stateFolder(); err != nil {
		return err
	}
	if r.Kubeconfig != "" {
		o.Env = append(o.Env, "KUBECONFIG="+r.Kubeconfig)
	}
	return dev.Guard(ctx, o, r.Guard, s.Stdin)
}

// devOptions are what the dev loop gets of this session, for children in dir.
func (s *Session) devOptions(dir string, g Generation) dev.Options {
	return dev.Options{
		Dir:      dir,
		Env:      slices.Clone(s.Environ),
		Stdout:   s.Output,
		Stderr:   s.Stderr,
		Handler:  s.Handler,
		Generate: func(ctx context.Context, root string) error { return s.regenerate(ctx, root, g) },
	}
}
