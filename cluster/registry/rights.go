package registry

import (
	"context"
	"crypto/subtle"
	"net"
	"net/http"
	"os"
	"sync"

	"cuelabs.dev/go/oci/ociregistry"

	"github.com/slipway-dev/slipway/cluster/registry/peer"
)

// User is the name that goes with a registry's token.
const User = "slipway"

// rights say who may change what the registry has: the user whose process this is, and root, whom the system tells by
// their connection; and whoever has the token.
type rights struct {
	owner int
	token string // empty: nobody has one
}

// userOf is the key of a connection's user in the context of its requests.
type userOf struct{}

// withUser has the requests of a connection know the user at its other end, who is found out when that matters.
func withUser(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, userOf{}, sync.OnceValues(func() (int, bool) { return peer.User(c) }))
}

// guard refuses changes by others. It refuses their first question too, by which clients find out whether to log in;
// what is there they may read.
func (r rights) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		reads := req.Method == http.MethodGet || req.Method == http.MethodHead
		first := req.URL.Path == "/v2/" || req.URL.Path == "/v2"
		if reads && !first || r.known(req) || r.owned(req) {
			next.ServeHTTP(w, req)
			return
		}
		w.Header().Set("WWW-Authenticate", `Basic realm="the images of a slipway cluster"`)
		_ = ociregistry.WriteError(w, ociregistry.NewError(
			"only the cluster's user may push; `slipway image login --cluster` logs in docker and podman", ociregistry.ErrUnauthorized.Code(), nil))
	})
}

// known says whether a request has the token.
func (r rights) known(req *http.Request) bool {
	user, password, ok := req.BasicAuth()
	return ok && r.token != "" && user == User && subtle.ConstantTimeCompare([]byte(password), []byte(r.token)) == 1
}

// owned says whether a request comes from a process of the owner, or of root, who could act as the owner anyway.
func (r rights) owned(req *http.Request) bool {
	user, ok := req.Context().Value(userOf{}).(func() (int, bool))
	if !ok {
		return false
	}
	uid, ok := user()
	return ok && (uid == r.owner || uid == 0)
}

// notFromPages refuses changes that web pages of elsewhere ask for: a browser is a process of its user, whoever wrote
// the page.
func notFromPages(next http.Handler) http.Handler {
	protection := http.NewCrossOriginProtection()
	protection.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = ociregistry.WriteError(w, ociregistry.NewError("web pages may not change the images of a cluster", ociregistry.ErrDenied.Code(), nil))
	}))
	return protection.Handler(next)
}

// owner is the user whose images these are.
func owner() int { return os.Geteuid() }
