package dev

import (
	"context"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/dev/impersonation"
	"github.com/slipway-dev/slipway/internal/report"
)

// entrance is the way of a session's managers into the cluster as a ServiceAccount.
type entrance struct {
	account     string   // NAMESPACE/NAME; empty: they have the user's rights
	namespace   string   // the account's
	environment []string // of the managers
	close       func() error
	ended       <-chan struct{} // closed when the way is gone, as with its cluster; nil: that is not known
}

// isOpen reports whether the way leads into the cluster.
func (e entrance) isOpen() bool {
	select {
	case <-e.ended:
		return false
	default:
		return e.close != nil
	}
}

// enter opens the way into the cluster, unless it is open for this account already.
func (s *Session) enter(ctx context.Context) error {
	if s.options.Account == nil {
		return nil
	}
	account, err := s.options.Account(ctx, s.cluster)
	if err != nil || account == s.entrance.account && s.entrance.isOpen() {
		return err
	}
	namespace, name, found := strings.Cut(account, "/")
	if !found {
		namespace, name = s.cluster.Namespace(), account
	}
	if err := s.cluster.RequireAccount(ctx, namespace, name); err != nil {
		return err
	}
	opened, err := s.openFor(ctx, namespace, name)
	if err != nil {
		return err
	}
	s.leave()
	s.entrance = opened
	s.entrance.account, s.entrance.namespace = account, namespace
	s.options.Handler.Handle(report.Note{Text: "the program has the rights of ServiceAccount " + namespace + "/" + name + " in the cluster, and no others"})
	return nil
}

// leave closes the way into the cluster.
func (s *Session) leave() {
	if s.entrance.close != nil {
		_ = s.entrance.close() // it ends with this process in any case
	}
	s.entrance = entrance{}
}

// openFor opens a way into the cluster for a ServiceAccount: through a front door of slipway's own cluster, or by
// impersonation in another one.
func (s *Session) openFor(ctx context.Context, namespace, account string) (entrance, error) {
	seen := s.options.Request
	if seen == nil {
		seen = func(Request) {}
	}
	if s.own {
		door, err := s.options.Control.OpenDoor(ctx, s.home.Name, clusterctl.ServiceAccount(namespace, account), func(r clusterctl.DoorRequest) { seen(Request(r)) })
		if err != nil {
			return entrance{}, err
		}
		return entrance{environment: []string{"KUBECONFIG=" + door.Kubeconfig}, close: door.Close, ended: door.Ended()}, nil
	}
	may, why, err := impersonation.MayImpersonate(ctx, s.cluster.Config(), namespace, account)
	if err != nil {
		return entrance{}, err
	}
	if !may {
		return entrance{}, &report.Error{Class: report.Refused, What: "you may not act as ServiceAccount " + namespace + "/" + account + " in this cluster", Where: s.cluster.Server(), Hint: why + "; --as admin gives the program your own rights"}
	}
	door, err := impersonation.Open(context.WithoutCancel(ctx), impersonation.Options{
		Config: s.cluster.Config(), User: impersonation.Username(namespace, account), Namespace: namespace, Report: func(r impersonation.Request) { seen(Request(r)) },
	})
	if err != nil {
		return entrance{}, err
	}
	return entrance{environment: []string{"KUBECONFIG=" + door.Kubeconfig()}, close: door.Close}, nil
}

// A Request is what a program with the rights of a ServiceAccount has asked the cluster for.
type Request clusterctl.DoorRequest

// requireAccount refuses a command that names a kubeconfig, by which the program would be another user than the
// account.
func (o Options) requireAccount(command []string) error {
	at := slices.IndexFunc(command, func(word string) bool { return isFlag(word, "kubeconfig") || strings.HasPrefix(word, "KUBECONFIG=") })
	if o.Account == nil || at < 0 {
		return nil
	}
	end := at + 1
	if !strings.Contains(command[at], "=") && end < len(command) {
		end++
	}
	return &report.Error{
		What: "the program's own kubeconfig would be used in place of that of the ServiceAccount", Where: command[at], Code: report.UsageCode,
		Hint: "leave it out, or leave out --as; --kubeconfig before -- names the cluster",
		Next: o.again(slices.Concat(command[:at], command[end:])),
	}
}
