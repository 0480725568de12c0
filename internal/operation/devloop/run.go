package devloop

import (
	"cmp"
	"context"
	"os"
	"slices"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/dev"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/operation/delivery"
	"github.com/slipway-dev/slipway/internal/operation/generation"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ship"
)

// Whose rights a manager has.
const (
	AsManager = "manager" // those of the ServiceAccount with which it is deployed
	AsAdmin   = "admin"   // those of the kubeconfig's user
)

// Loopback is the default address on which a manager listens.
const Loopback = dev.Loopback

// A Manager is how to run the project's manager on this machine.
type Manager struct {
	Args       []string // of the manager
	Kubeconfig string   // file; "" means KUBECONFIG, else ~/.kube/config
	Manager    string   // folder of its main package, if there are several
	As         string   // whose rights it has: [AsManager], [AsAdmin], or NAME or NAMESPACE/NAME of a ServiceAccount
	Address    string   // IP address to listen on
	Webhooks   string   // where another cluster's API server reaches the webhooks; see [dev.Options]
	Debug      bool     // under Delve
	Guard      string   // record of a run: only wait for its end and restore what it changed
}

// Start generates, builds the manager, and runs it until it or ctx ends.
func Start(ctx context.Context, s *operation.Session, m Manager) error {
	if m.Guard != "" {
		return m.guard(ctx, s)
	}
	if operation.WithoutGo(s) {
		return m.program(ctx, s)
	}
	root, err := s.ReadRoot()
	if err != nil {
		return err
	}
	if err := s.Codebase(root).Choose(m.Manager); err != nil {
		return err
	}
	o, err := m.options(s, root)
	if err != nil {
		return err
	}
	o.Stdout, o.Stderr = s.Output, s.Stderr
	o.Generate = func(ctx context.Context, root string) error {
		_, err := generation.Regenerate(ctx, s, root, generation.Generation{})
		return err
	}
	if m.As == AsManager {
		o.Account = func(ctx context.Context, cluster *ship.Cluster) (string, error) {
			access, err := delivery.Grant(ctx, s, root, cluster)
			return access.Name(), err
		}
	}
	return dev.Run(ctx, o, m.Args)
}

// options are those of a manager of the project in root, for which account s names it.
func (m Manager) options(s *operation.Session, root string) (o dev.Options, err error) {
	o = m.bare(s, root)
	own, err := os.Executable()
	if err != nil {
		return o, err
	}
	o.Guard = []string{own, "run", "--guard"}
	o.Address, o.WebhookAddress, o.Debug = m.Address, m.Webhooks, m.Debug
	o.Code = func() *codebase.Codebase {
		code := s.Codebase(root)
		_ = code.Choose(m.Manager) // checked by the caller
		return code
	}
	o.State, err = operation.StateFolder(s)
	return o, err
}

// bare are the options of any program.
func (m Manager) bare(s *operation.Session, dir string) dev.Options {
	o := dev.Options{Dir: dir, Env: slices.Clone(s.Environ), Handler: s.Handler, Control: clusterctl.New(s.Getenv, s.Handler)}
	if m.Kubeconfig != "" {
		o.Env = append(o.Env, "KUBECONFIG="+m.Kubeconfig)
	}
	if m.As != "" && m.As != AsAdmin {
		o.As = m.As
		o.Account = func(context.Context, *ship.Cluster) (string, error) { return m.As, nil }
	}
	return o
}

// guard waits for the end of a run and restores what that could not restore itself.
func (m Manager) guard(ctx context.Context, s *operation.Session) (err error) {
	o := m.bare(s, "")
	if o.State, err = operation.StateFolder(s); err != nil {
		return err
	}
	return dev.Guard(ctx, o, m.Guard, s.Stdin)
}

// program runs the program that the arguments name, for operators without Go code.
func (m Manager) program(ctx context.Context, s *operation.Session) (err error) {
	if len(m.Args) == 0 {
		all, err := s.Codebase(s.Dir).Config()
		if err == nil && len(delivery.DeployableFolders(all)) == 0 {
			err = operation.NoProject(s)
		}
		return cmp.Or[error](err, &report.Error{
			Class: report.BadProject,
			What:  "no project in this folder", Where: s.Dir, Hint: "without Go code, name the operator's program", Next: "slipway run -- ./PROGRAM",
		})
	}
	o := m.bare(s, s.Dir)
	o.Stdout, o.Stderr = s.Output, s.Stderr
	if m.As == AsManager {
		o.Account = func(ctx context.Context, cluster *ship.Cluster) (string, error) {
			access, err := delivery.Grant(ctx, s, s.Dir, cluster)
			return access.Name(), err
		}
	}
	if o.State, err = operation.StateFolder(s); err != nil {
		return err
	}
	return dev.RunProgram(ctx, o, m.Args[0], m.Args[1:])
}
