package apiserver

import (
	"context"
	"net/http"

	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/slipway-dev/slipway/cluster/authorship"
)

// identityKey is the key of the context value by which this process decides who makes a request. No client can set it.
type identityKey struct{}

// HandlerAs returns a handler that serves each request by the server's complete chain on behalf of who: authorization,
// audit, and priority and fairness meet exactly this user. Credentials that a request carries are dropped. Its
// impersonation headers are judged as for any other user. Once the server has ended the answer is 503.
func (s *Server) HandlerAs(who user.Info) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del("Authorization")
		if r.TLS != nil {
			state := *r.TLS
			state.PeerCertificates, state.VerifiedChains = nil, nil
			r.TLS = &state
		}
		s.front.ServeHTTP(w, r.WithContext(withIdentity(r.Context(), who)))
	})
}

func withIdentity(ctx context.Context, who user.Info) context.Context {
	return context.WithValue(ctx, identityKey{}, who)
}

func identity(ctx context.Context) (who user.Info, ok bool) {
	who, ok = ctx.Value(identityKey{}).(user.Info)
	return who, ok
}

// decided authenticates the requests of [Server.HandlerAs], and leaves all others to next.
type decided struct{ next authenticator.Request }

// AuthenticateRequest is called by the chain.
func (d decided) AuthenticateRequest(r *http.Request) (*authenticator.Response, bool, error) {
	if who, ok := identity(r.Context()); ok {
		authorship.Authenticated(r.Context(), who)
		return &authenticator.Response{User: who}, true, nil
	}
	response, ok, err := d.next.AuthenticateRequest(r)
	if ok {
		authorship.Authenticated(r.Context(), response.User)
	}
	return response, ok, err
}

// own serves the requests that clients in this process make. Admission and others ask the server with the context of
// the request that they handle. Over a connection its values would not arrive, and here its identity must not: these
// requests are the server's own.
type own struct{ next http.Handler }

func (o own) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if _, ok := identity(r.Context()); ok {
		r = r.WithContext(withIdentity(r.Context(), nil))
	}
	o.next.ServeHTTP(w, r)
}
