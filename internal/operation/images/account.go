package images

import (
	"context"
	"net"
	"strings"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/clusterctl/loaded"
	"github.com/slipway-dev/slipway/internal/image"
	"github.com/slipway-dev/slipway/internal/image/reference"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/operation/clusters"
	"github.com/slipway-dev/slipway/internal/report"
)

// RegistryAccount returns the account for the registry of a cluster, or nil if it has none.
func RegistryAccount(s *operation.Session, name string) (*image.Account, error) {
	token, err := clusterctl.New(s.Getenv, s.Handler).RegistryToken(name)
	if err != nil || token == "" {
		return nil, err
	}
	return &image.Account{User: clusterctl.RegistryUser, Password: token}, nil
}

// accountFor returns the account for pushing an image to an embedded cluster's registry. It returns nil for other
// registries, whose accounts docker's configuration holds. It matches only 127.0.0.1 and localhost: another program may
// listen on other loopback addresses, such as [::1].
func accountFor(ctx context.Context, s *operation.Session, ref string) (*image.Account, error) {
	host := reference.Registry(ref)
	at, _, err := net.SplitHostPort(host)
	if err != nil || !strings.EqualFold(at, "localhost") && at != "127.0.0.1" {
		return nil, nil
	}
	owner := clusters.Running(ctx, s, func(s *clusterctl.Status) bool { return loaded.Same(s.Registry, host) })
	if owner == nil {
		return nil, nil
	}
	return RegistryAccount(s, owner.Name)
}

// Login checks the account at a registry and stores it where docker does.
func Login(ctx context.Context, s *operation.Session, registry, user, password string) (image.LoggedIn, error) {
	in, err := image.New(s.Getenv, s.Handler).Login(ctx, image.Login{Registry: registry, User: user, Password: password})
	if err != nil {
		return image.LoggedIn{}, err
	}
	warnReadable(s, in)
	s.Handler.Handle(report.Result{Text: in.User + " is logged in to " + in.Registry + ", kept in " + in.Kept, Value: in})
	return in, nil
}

// Logout deletes the stored account of a registry. A missing account is not an error.
func Logout(ctx context.Context, s *operation.Session, registry string) (image.LoggedOut, error) {
	out, err := image.New(s.Getenv, s.Handler).Logout(ctx, image.Logout{Registry: registry})
	if err != nil {
		return image.LoggedOut{}, err
	}
	text := "the account of " + out.Registry + " is deleted"
	if !out.Known {
		text = "there is no account of " + out.Registry
	}
	s.Handler.Handle(report.Result{Text: text, Value: out})
	return out, nil
}

// LoginToCluster stores the account of a cluster's registry for both of its addresses on this machine.
func LoginToCluster(ctx context.Context, s *operation.Session, name string) (image.LoggedIn, error) {
	cluster, err := clusterctl.New(s.Getenv, s.Handler).Status(ctx, clusters.ResolveName(s, name))
	if err != nil {
		return image.LoggedIn{}, err
	}
	if err := cluster.Problem(); err != nil {
		return image.LoggedIn{}, err
	}
	account, err := RegistryAccount(s, cluster.Name)
	if err != nil {
		return image.LoggedIn{}, err
	}
	_, port, err := net.SplitHostPort(cluster.Registry)
	if account == nil || err != nil {
		return image.LoggedIn{}, &report.Error{What: "cluster " + cluster.Name + " has no account for its registry", Err: err, Hint: "an earlier version of slipway started it: start it again",
			Next: "slipway cluster stop " + cluster.Name}
	}
	var in image.LoggedIn
	for _, host := range []string{"127.0.0.1", "localhost"} {
		l := image.Login{Registry: net.JoinHostPort(host, port), User: account.User, Password: account.Password}
		if in, err = image.New(s.Getenv, s.Handler).Login(ctx, l); err != nil {
			return image.LoggedIn{}, err
		}
	}
	warnReadable(s, in)
	s.Handler.Handle(report.Result{Text: "docker and podman can now push to " + in.Registry + ", the registry of cluster " + cluster.Name + ", with the account in " + in.Kept, Value: in})
	return in, nil
}

// warnReadable warns if the password is stored in plain text.
func warnReadable(s *operation.Session, in image.LoggedIn) {
	if !strings.HasPrefix(in.Kept, "docker-credential-") {
		s.Handler.Handle(report.Warning{Text: in.Kept + " holds the password as plain text, since no credential helper is configured"})
	}
}
