package apiserver

import (
	"context"
	"net/http"
	"sync/atomic"

	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/mux"

	"github.com/slipway-dev/slipway/cluster/authorship"
)

// front stands before the handlers of a server, tells of large objects that come, and lets go of the handlers when the
// server has ended.
//
// A connection of HTTP/2 whose client leaves in the middle of a watch is kept in memory for another 90
// seconds, by a timer that golang.org/x/net/http2 starts once more when it closes the connection's last stream
// (closeStream). With the connection goes its handler, which is the whole server: thirty megabytes.
type front struct {
	handler *genericapiserver.APIServerHandler // what connections know
	behind  atomic.Pointer[genericapiserver.APIServerHandler]
	large   func()            // may be nil
	calls   *authorship.Calls // may be nil
}

// largeObject is the size, in bytes, from which on a request is told of. A definition whose kind has a template of a
// pod in two versions is a megabyte and more; one of a simple kind is ten kilobytes.
const largeObject = 256 << 10

// newFront puts a front before a server that does not run yet. Upstream counterpart: NewAPIServerHandler in
// k8s.io/apiserver/pkg/server/handler.go.
func newFront(server *genericapiserver.GenericAPIServer, large func(), calls *authorship.Calls) *front {
	f := &front{large: large, calls: calls}
	f.behind.Store(server.Handler)
	f.handler = &genericapiserver.APIServerHandler{
		FullHandlerChain: f, Director: server.Handler.Director,
		GoRestfulContainer: server.Handler.GoRestfulContainer, NonGoRestfulMux: server.Handler.NonGoRestfulMux,
	}
	server.Handler = f.handler
	return f
}

// ServeHTTP serves as long as the server runs.
func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength >= largeObject && f.large != nil {
		f.large()
	}
	switch behind := f.behind.Load(); {
	case behind != nil && f.calls != nil:
		f.calls.Serve(behind, w, r)
		return
	case behind != nil:
		behind.ServeHTTP(w, r)
		return
	}
	http.Error(w, "the API server has ended", http.StatusServiceUnavailable)
}

// run runs the server to its end and lets go of it.
func (f *front) run(ctx context.Context, server interface{ Run(context.Context) error }) error {
	defer f.letGo()
	return server.Run(ctx)
}

// letGo forgets all that leads to the server. Upstream asks for the first two while it is being built only, for the
// third also when an APIService comes or goes.
func (f *front) letGo() {
	f.behind.Store(nil)
	f.handler.Director, f.handler.GoRestfulContainer = nil, nil
	f.handler.NonGoRestfulMux = mux.NewPathRecorderMux("ended")
}
