package cli

import (
	"context"
	"net"
	"strings"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/clusterctl/loaded"
	"github.com/slipway-dev/slipway/internal/image/reference"
	"github.com/slipway-dev/slipway/internal/image/wire"
	"github.com/slipway-dev/slipway/internal/report"
)

// registryAccount is the account of the registry of the cluster called name; nil if it has none.
func (inv *invocation) registryAccount(name string) (*wire.Account, error) {
	token, err := inv.clusters().RegistryToken(name)
	if err != nil || token == "" {
		return nil, err
	}
	return &wire.Account{User: clusterctl.RegistryUser, Password: token}, nil
}

// accountFor is the account with which an image is pushed, if its name begins with the address of an embedded cluster's registry; nil for all
// others, whose accounts are kept where docker does. At other addresses of loopback, such as [::1], somebody else may listen.
func (inv *invocation) accountFor(ctx context.Context, image string) (*wire.Account, error) {
	host := reference.Registry(image)
	at, _, err := net.SplitHostPort(host)
	if err != nil || !strings.EqualFold(at, "localhost") && at != "127.0.0.1" {
		return nil, nil
	}
	owner := inv.running(ctx, func(s *clusterctl.Status) bool { return loaded.Same(s.Registry, host) })
	if owner == nil {
		return nil, nil
	}
	return inv.registryAccount(owner.Name)
}

// loginToCluster keeps the account of a cluster's registry under both names that it has on this machine.
func (inv *invocation) loginToCluster(ctx context.Context, name string) error {
	s, err := inv.clusters().Status(ctx, name)
	if err != nil {
		return err
	}
	if err := s.Problem(); err != nil {
		return err
	}
	account, err := inv.registryAccount(s.Name)
	if err != nil {
		return err
	}
	_, port, err := net.SplitHostPort(s.Registry)
	if account == nil || err != nil {
		return &report.Error{What: "cluster " + s.Name + " has no account for its registry", Err: err, Hint: "an earlier version of slipway has started it",
			Next: "slipway cluster stop " + s.Name}
	}
	var in wire.LoggedIn
	for _, host := range []string{"127.0.0.1", "localhost"} {
		l := wire.Login{Registry: net.JoinHostPort(host, port), User: account.User, Password: account.Password}
		if in, err = inv.images().Login(ctx, l); err != nil {
			return err
		}
	}
	inv.warnReadable(in)
	inv.handler.Handle(report.Result{Text: "docker and podman may push to " + in.Registry + ", the registry of cluster " + s.Name + ", by the account kept in " + in.Kept, Value: in})
	return nil
}
