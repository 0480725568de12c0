// Package dashboard serves the page of `slipway explain --web`: what package explain knows of a cluster, and the
// cluster's objects as they change, to one user's browser.
//
//	server, err := dashboard.New(web.Files(), dashboard.Subject{Cluster: cluster, Record: record, About: about})
//	fmt.Println(server.Link("/"))
//	err = server.Serve(ctx)
//
// It listens at 127.0.0.1. Other users of the machine reach that, too, and so do pages of other sites through the
// user's browser. So all but the page's own files needs a key, which a token buys once: the token is in the link's
// fragment, which a browser sends to no one. A request whose Host or Origin is not the server's is refused.
package dashboard

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/netutil"

	"github.com/slipway-dev/slipway/internal/explain"
	"github.com/slipway-dev/slipway/internal/ship"
)

// Record is the record of a cluster.
type Record interface {
	explain.History
	explain.Follower
}

// About is what the page says of the cluster.
type About struct {
	Context    string `json:"context"` // of the kubeconfig
	Server     string `json:"server"`
	Version    string `json:"version,omitempty"` // of Kubernetes
	Recorded   bool   `json:"recorded"`
	Unrecorded string `json:"unrecorded,omitempty"` // why there is no record
}

// A Subject is what is shown.
type Subject struct {
	Cluster *ship.Cluster
	Record  Record // nil: the cluster keeps none
	About   About
}

// Server serves the page. It asks the cluster for objects from the first question about them on.
type Server struct {
	files    fs.FS
	listener net.Listener
	host     string // and port
	life     context.Context
	end      context.CancelFunc
	handlers sync.WaitGroup
	streams  chan struct{} // has room for those that are open
	subject  atomic.Pointer[subject]

	mu    sync.Mutex
	token string // empty unless there is a link that was not used
	key   string // empty before the first one was
}

// mostStreams bounds the streams that are open: a browser opens six for one site.
const mostStreams = 32

// New listens at a free port of 127.0.0.1. Serve must follow.
func New(files fs.FS, of Subject) (*Server, error) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{files: files, listener: listener, host: listener.Addr().String(), streams: make(chan struct{}, mostStreams)}
	s.life, s.end = context.WithCancel(context.Background())
	s.Show(of)
	return s, nil
}

// Show shows another subject from now on, as after a new start of the cluster. Who looks at the page sees it.
func (s *Server) Show(of Subject) {
	if before := s.subject.Swap(newSubject(s.life, of)); before != nil {
		before.end()
	}
}

// Link opens the page at a route, such as "/reconciles". It works once; behind that, the browser that has opened it has
// the key. A new link is the only one.
func (s *Server) Link(route string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.token = rand.Text()
	return "http://" + s.host + "/#" + route + "?token=" + s.token
}

const (
	headTimeout  = 10 * time.Second // of a request's head, and of its body
	idleTimeout  = time.Minute      // of a connection
	sendTimeout  = 30 * time.Second // of an answer, or of a line of a stream
	maxHeadBytes = 16 << 10
	maxBodyBytes = 4 << 10
	// mostConnections bounds those that other users of the machine can take from the process.
	mostConnections = 128
)

// Serve serves the page until ctx ends.
func (s *Server) Serve(ctx context.Context) error {
	defer context.AfterFunc(ctx, s.end)()
	server := &http.Server{
		Handler: s.guarded(s.routes()), ReadHeaderTimeout: headTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeadBytes,
		BaseContext: func(net.Listener) context.Context { return s.life },
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		<-s.life.Done()
		_ = server.Close() // streams do not end by themselves
	}()
	err := server.Serve(netutil.LimitListener(s.listener, mostConnections))
	s.end()
	<-ended
	s.handlers.Wait()
	s.subject.Load().objects.wait()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/session", s.session)
	for route, answer := range map[string]func(*subject, http.ResponseWriter, *http.Request){
		"cluster": (*subject).cluster, "explain": (*subject).explain, "record": (*subject).record,
		"reconciles": (*subject).reconciles, "reconcile": (*subject).reconcile, "objects": s.streamObjects, "follow": s.streamRecord,
	} {
		mux.HandleFunc("GET /api/"+route, s.authorized(func(w http.ResponseWriter, r *http.Request) { answer(s.subject.Load(), w, r) }))
	}
	mux.Handle("GET /", http.FileServerFS(s.files))
	return mux
}

// policy lets the page run its own files and ask its own server, and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// guarded refuses requests that another site or name leads here.
func (s *Server) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.handlers.Add(1)
		defer s.handlers.Done()
		limits := http.NewResponseController(w)
		_ = limits.SetWriteDeadline(time.Now().Add(sendTimeout)) // a stream sets it for each line
		head := w.Header()
		head.Set("Content-Security-Policy", policy)
		head.Set("X-Content-Type-Options", "nosniff")
		head.Set("Referrer-Policy", "no-referrer")
		head.Set("Cross-Origin-Opener-Policy", "same-origin")
		head.Set("Cross-Origin-Resource-Policy", "same-origin")
		head.Set("Cache-Control", "no-store")
		origin := r.Header.Get("Origin")
		site := r.Header.Get("Sec-Fetch-Site")
		api := strings.HasPrefix(r.URL.Path, "/api/")
		if r.Host != s.host || origin != "" && origin != "http://"+s.host || api && site != "" && site != "same-origin" {
			refuse(w, http.StatusForbidden, failure{"another site has made this request", "open the link that slipway has printed"})
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBodyBytes)
		next.ServeHTTP(w, r)
	})
}
