// Package transfer moves images between the store, registries and archives.
//
//	r := transfer.Registries{Progress: show}
//	digest, err := r.Push(ctx, ref, entry.Image)
//	base, err := r.Pull(ctx, ref, platform)
//	err := transfer.Save(file, transfer.OCI, tag, img)
//
// Credentials are the user's own: those of docker and podman, and their helpers. Without encryption it speaks to
// registries on this machine alone.
package transfer

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/slipway-dev/slipway/internal/image/reference"
)

// Registries are those that the user's credentials open.
type Registries struct {
	// Progress is reported, a few times a second, how many bytes of how many have been sent.
	Progress func(done, total int64)
	// Account is for the one registry that is spoken to; nil is the one that is kept for it.
	Account *Account
	// Mirrors are asked in place of the registries that images to pull name.
	Mirrors reference.Mirrors
}

func (r Registries) options(ctx context.Context) []remote.Option {
	auth := remote.WithAuthFromKeychain(authn.DefaultKeychain)
	if r.Account != nil {
		auth = remote.WithAuth(&authn.Basic{Username: r.Account.User, Password: r.Account.Password})
	}
	return []remote.Option{remote.WithContext(ctx), auth,
		remote.WithUserAgent("slipway"), remote.WithTransport(guarded{ending{carrier()}})}
}

// carrier is what requests go by. Localhost is 127.0.0.1 there and no other address that the name may have: whoever
// else is on the machine may listen at the same port of [::1], which is asked first, and would be sent the account.
var carrier = sync.OnceValue(func() http.RoundTripper {
	usual, ok := remote.DefaultTransport.(*http.Transport)
	if !ok {
		return remote.DefaultTransport
	}
	t := usual.Clone()
	dial := t.DialContext
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		if host, port, err := net.SplitHostPort(address); err == nil && strings.EqualFold(host, "localhost") {
			address = net.JoinHostPort("127.0.0.1", port)
		}
		return dial(ctx, network, address)
	}
	return t
})

// guarded speaks without encryption to this machine alone: the library does so to any private address.
type guarded struct{ http.RoundTripper }

var errPlain = errors.New("the registry is on another machine and does not use TLS")

func (g guarded) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != "https" && !reference.OnLoopback(r.URL.Hostname()) {
		return nil, errPlain
	}
	return g.RoundTripper.RoundTrip(r)
}
