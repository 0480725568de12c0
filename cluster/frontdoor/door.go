// Package frontdoor lets one process, such as an operator's, into an API server by a listener of its own, so that the
// server knows whose each request is and each can be reported:
//
//	door, err := frontdoor.Open(frontdoor.Options{Serve: server.HandlerAs, Identity: …})
//	…                                    // the process uses door.Kubeconfig()
//	for report := range door.Reports() { … }
//	err = door.Close()
//
// A door serves HTTP/1.1 and HTTP/2 over TLS on 127.0.0.1, with the API server's own certificate. It takes requests
// that carry the token of its kubeconfig. These go through the server's complete chain, on behalf of the door's user;
// all others are answered 401, and are not reported.
package frontdoor

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"

	"github.com/slipway-dev/slipway/cluster/connlimit"
	"github.com/slipway-dev/slipway/cluster/kubeconfig"
	"github.com/slipway-dev/slipway/cluster/pki"
)

const (
	// tokenSize is the size of a door's token in bytes.
	tokenSize = 32
	// idleLimit and headerLimit are upstream's, of k8s.io/apiserver/pkg/server/secure_serving.go.
	idleLimit   = 90 * time.Second
	headerLimit = 32 * time.Second
)

// ErrIdentity says that there is no door for such a user.
var ErrIdentity = errors.New("no door for this identity")

// Options says whom a door is for, and where it leads.
type Options struct {
	Name      string // of the kubeconfig's cluster, user and context, behind slipway-
	Dir       string // of the kubeconfig; Open makes it (0700), and Close removes it
	Identity  user.DefaultInfo
	Namespace string // in which clients of the kubeconfig work; empty means default
	Keys      pki.Files
	// Serve returns what serves requests on behalf of a user, whatever credentials they carry.
	Serve func(user.Info) http.Handler
	// LongRunning reports whether a request, such as a watch, lasts until one side ends it.
	LongRunning request.LongRunningRequestCheck
	Log         *slog.Logger // of connections that fail
	// Observe is called with each [Request] and [Delivered], whether or not reports are taken. It must not wait. May be
	// nil.
	Observe func(Report)

	// Inspection has the door look into requests; nil: it does not.
	*Inspection
}

// An Inspection is what an inspected door needs. It reports requests when they begin, too, and the events of watches,
// which are sent as JSON. It commits faults, see [Door.Arm].
type Inspection struct {
	Revision func() int64 // of the store, now
	// Known reports whether an object was there before the process's work began. With it the door is parked until
	// [Door.Activate]: the process meets no other objects, and its requests wait but for watches and discovery.
	Known func(types.UID) bool
	// Past is a revision of the store. Until [Door.Activate], lists by which clients fill caches are answered as of
	// then if they take any state, and watches deliver nothing new. An API server that lags may do so: see Any in
	// https://kubernetes.io/docs/reference/using-api/api-concepts/#semantics-for-get-and-list. 0: they are up to date.
	Past int64
	// PastOf are resources, as GROUP/RESOURCE, to which Past applies; nil: all. API servers have a cache for each.
	PastOf []string
}

// Door is an open door.
type Door struct {
	options Options
	address string
	token   []byte
	handler http.Handler
	reports *queue
	inside  *inspection // nil unless the door is inspected
	serial  atomic.Int64
	server  *http.Server
	end     context.CancelFunc // of all requests
	closing func() error

	serving  sync.WaitGroup // the listener and its connections
	handlers sync.WaitGroup
}

// Open opens a door. It refuses an identity without a name, and one in the group system:masters, with [ErrIdentity].
// Groups are taken as they are: system:authenticated has to be among them.
func Open(o Options) (*Door, error) {
	switch {
	case o.Identity.Name == "":
		return nil, fmt.Errorf("%w: it names no user", ErrIdentity)
	case slices.Contains(o.Identity.Groups, user.SystemPrivilegedGroup):
		return nil, fmt.Errorf("%w: the group %s has all rights; the cluster's own kubeconfig is for that", ErrIdentity, user.SystemPrivilegedGroup)
	}
	if o.Inspection != nil && o.Known != nil && o.Past != 0 {
		return nil, fmt.Errorf("%w: it shows the past or waits parked, not both", ErrInspect)
	}
	certificate, err := tls.LoadX509KeyPair(o.Keys.Server, o.Keys.ServerKey)
	if err != nil {
		return nil, fmt.Errorf("open the front door: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("open the front door: %w", err)
	}
	d := &Door{
		options: o, address: "https://" + listener.Addr().String(), token: newToken(),
		handler: o.Serve(&o.Identity), reports: newQueue(maxWaiting),
	}
	if o.Inspection != nil {
		d.reports, d.inside = newQueue(maxInspected), newInspection(o.Known != nil || o.Past != 0)
	}
	d.reports.observe = o.Observe
	d.closing = sync.OnceValue(d.close)
	if err := d.writeKubeconfig(); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	d.serve(connlimit.HangUp(listener), certificate)
	return d, nil
}

func newToken() []byte {
	b := make([]byte, tokenSize)
	_, _ = rand.Read(b) // never fails
	return []byte(base64.RawURLEncoding.EncodeToString(b))
}

func (d *Door) writeKubeconfig() error {
	if err := os.MkdirAll(filepath.Dir(d.options.Dir), 0o700); err != nil {
		return fmt.Errorf("open the front door: %w", err)
	}
	if err := os.Mkdir(d.options.Dir, 0o700); err != nil { // another one's is left alone
		return fmt.Errorf("open the front door: %w", err)
	}
	err := kubeconfig.WriteToken(d.Kubeconfig(), d.options.Name, d.address, d.options.Namespace, string(d.token), d.options.Keys)
	if err != nil {
		return errors.Join(err, d.removeKubeconfig())
	}
	return nil
}

// removeKubeconfig removes the file and its folder, which may have gone with the state of the cluster.
func (d *Door) removeKubeconfig() error {
	for _, path := range []string{d.Kubeconfig(), d.options.Dir} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove the front door's kubeconfig: %w", err)
		}
	}
	return nil
}

// serve begins to serve. Clients are not asked for certificates.
func (d *Door) serve(listener net.Listener, certificate tls.Certificate) {
	life, end := context.WithCancel(context.Background())
	d.end = end
	d.server = &http.Server{
		Handler: d, IdleTimeout: idleLimit, ReadHeaderTimeout: headerLimit,
		TLSConfig:   &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{certificate}},
		ErrorLog:    slog.NewLogLogger(d.options.Log.Handler(), slog.LevelInfo),
		BaseContext: func(net.Listener) context.Context { return life },
		ConnState:   d.count,
	}
	d.serving.Go(func() { _ = d.server.ServeTLS(listener, "", "") }) // ends with the listener
}

// count follows the goroutines of connections. That of one which a handler takes over is the handler's.
func (d *Door) count(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		d.serving.Add(1)
	case http.StateClosed, http.StateHijacked:
		d.serving.Done()
	case http.StateActive, http.StateIdle:
	}
}

// Server is the URL at which the door answers.
func (d *Door) Server() string { return d.address }

// Kubeconfig is the path of the file (0600) with which the process comes in.
func (d *Door) Kubeconfig() string { return filepath.Join(d.options.Dir, "kubeconfig") }

// Reports returns the reports of requests that were let in, a [Request] each as soon as it is answered. Reports wait
// for their reader in a bounded number. The channel is closed at the end of [Door.Close], and holds the last reports
// then.
func (d *Door) Reports() <-chan Report { return d.reports.c }

// Close ends the listener, all connections and all requests, watches and upgraded connections too, and removes the
// kubeconfig. It returns once all handlers have returned. A second call waits for the first.
func (d *Door) Close() error { return d.closing() }

func (d *Door) close() error {
	d.end()
	err := errors.Join(d.server.Close(), d.removeKubeconfig())
	d.serving.Wait()
	d.handlers.Wait()
	d.reports.close()
	return err
}

// ServeHTTP serves the door's listener.
func (d *Door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.handlers.Add(1)
	defer d.handlers.Done()
	info := about(r)
	if !d.knows(r) {
		unauthorized(w, r, info)
		return
	}
	if d.inside != nil {
		d.inspect(w, r, info)
		return
	}
	d.let(w, r, d.begin(r, info))
}

// knows reports whether a request carries the door's token, in the form that the API server takes it.
func (d *Door) knows(r *http.Request) bool {
	scheme, token, _ := strings.Cut(strings.TrimSpace(r.Header.Get("Authorization")), " ")
	return strings.EqualFold(scheme, "bearer") && subtle.ConstantTimeCompare([]byte(token), d.token) == 1
}
