package operation

import (
	"context"
	"slices"

	"github.com/slipway-dev/slipway/internal/dev"
	"github.com/slipway-dev/slipway/internal/regenerate"
)

// A Run is how to run the project's manager on this machine.
type Run struct {
	Args       []string // the manager's
	Kubeconfig string   // a file for the manager; empty leaves it to its environment
	Address    string   // IP address at which the manager listens
}

// Loopback is the address at which a manager listens unless another one is asked for.
const Loopback = dev.Loopback

// Run builds the manager and runs it until it ends or ctx does. Generated files are brought up to date first.
func (s *Session) Run(ctx context.Context, r Run) error {
	root, err := s.ProjectRoot()
	if err != nil {
		return err
	}
	o := s.devOptions(root)
	o.Address, o.Webhooks = r.Address, s.webhookFiles(root)
	if o.State, err = s.stateFolder(); err != nil {
		return err
	}
	if r.Kubeconfig != "" {
		o.Env = append(o.Env, "KUBECONFIG="+r.Kubeconfig)
	}
	return dev.Run(ctx, o, r.Args)
}

// webhookFiles are where the project's Makefile has configurations of webhooks generated. A Makefile that cannot be
// followed is reported by generating.
func (s *Session) webhookFiles(root string) []string {
	plan, _, err := regenerate.PlanFor(root, s.Getenv)
	if err != nil {
		return nil
	}
	return plan.WebhookFiles()
}

// devOptions are what the dev loop gets of this session, for children in dir.
func (s *Session) devOptions(dir string) dev.Options {
	return dev.Options{
		Dir:      dir,
		Env:      slices.Clone(s.Environ),
		Stdout:   s.Output,
		Stderr:   s.Stderr,
		Handler:  s.Handler,
		Generate: s.regenerate,
	}
}
