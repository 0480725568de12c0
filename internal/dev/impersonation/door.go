// Package impersonation lets one process, such as an operator's manager, into a cluster as another user, by a proxy on
// this machine:
//
//	may, why, err := impersonation.MayImpersonate(ctx, config, "system", "manager")
//	door, err := impersonation.Open(ctx, impersonation.Options{
//		Config: config, User: impersonation.Username("system", "manager"), Report: func(r impersonation.Request) { … },
//	})
//	…                  // the process uses door.Kubeconfig()
//	err = door.Close()
//
// The proxy sends each request on with the credentials of a user's kubeconfig, and asks the API server to take it as
// one of the door's user (https://kubernetes.io/docs/reference/access-authn-authz/authentication/#user-impersonation).
// The process never has these credentials. It needs the token of the door's kubeconfig: requests without it are
// answered 401, and are not reported.
//
// Requests that carry impersonation headers of their own are answered 403: the API server cannot impersonate twice, and
// to do something else than was asked for would be worse. Answered 400 is what could get around the door's user: paths
// with the segments "." or "..", which could lead out of the path at which the kubeconfig has the cluster, to a server
// that ignores these headers; and upgrades to other protocols than WebSocket and SPDY/3.1, such as HTTP/2, by which
// further requests could be sent on a connection whose client certificate is the kubeconfig's.
package impersonation

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/slipway-dev/slipway/internal/dev/webhookproxy"
	"github.com/slipway-dev/slipway/internal/safefs"
	"github.com/slipway-dev/slipway/internal/userdirs"
)

const (
	// tokenSize is the size of a door's token in bytes.
	tokenSize = 32
	// idleLimit and headerLimit are those of an API server, in k8s.io/apiserver/pkg/server/secure_serving.go.
	idleLimit   = 90 * time.Second
	headerLimit = 32 * time.Second
	// scratchPrefix begins the name of the folder with a door's kubeconfig.
	scratchPrefix = "slipway-door-"
)

// ErrIdentity says that there is no door for such a user.
var ErrIdentity = errors.New("no door for this identity")

// Options says whom a door is for, and where it leads.
type Options struct {
	// Config is of a user who may impersonate User; see [MayImpersonate]. All that kubeconfigs can say is used: client
	// certificates, tokens, programs that print credentials, proxies.
	Config *rest.Config
	User   string
	// Groups are the user's. If there are none, a ServiceAccount has those that the API server gives it, and other
	// users have system:authenticated alone. Config's user needs the right to impersonate each group that is given.
	Groups    []string
	Namespace string // in which clients of the kubeconfig work; empty means default
	// Report is called for each request that was let in, one at a time, in the order in which they are answered. It may
	// take its time: requests do not wait for it. It must not call Close. May be nil.
	Report func(Request)
}

// Door is an open door.
type Door struct {
	options  Options
	folder   userdirs.Scratch
	token    []byte
	cluster  *url.URL
	requests http.RoundTripper // HTTP/2, if the cluster speaks it
	upgrades http.RoundTripper // HTTP/1.1, in which connections are upgraded
	server   *http.Server
	end      context.CancelFunc // of all requests and connections
	closing  func() error

	reports *queue
	serving sync.WaitGroup // the listener and its connections

	mu       sync.Mutex
	closed   bool
	handlers sync.WaitGroup // entered under mu while not closed
}

// Open opens a door on 127.0.0.1. It refuses options without a user, and a configuration that impersonates already,
// with [ErrIdentity]. When ctx ends, all requests end; [Door.Close] is still necessary.
func Open(ctx context.Context, o Options) (*Door, error) {
	switch {
	case o.User == "":
		return nil, fmt.Errorf("%w: it names no user", ErrIdentity)
	case impersonates(o.Config):
		return nil, fmt.Errorf("%w: the kubeconfig impersonates %s already", ErrIdentity, o.Config.Impersonate.UserName)
	}
	folder, err := userdirs.NewScratch(scratchPrefix)
	if err != nil {
		return nil, err
	}
	d := &Door{options: o, folder: folder, token: newToken()}
	if err := d.open(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open a door to the cluster as %s: %w", o.User, err), folder.Remove())
	}
	return d, nil
}

func newToken() []byte {
	b := make([]byte, tokenSize)
	_, _ = rand.Read(b) // never fails
	return []byte(base64.RawURLEncoding.EncodeToString(b))
}

func (d *Door) open(ctx context.Context) error {
	certificate, authority, err := d.certificate()
	if err != nil {
		return err
	}
	life, end := context.WithCancel(ctx)
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err == nil {
		err = errors.Join(d.lead(life), d.writeKubeconfig(listener.Addr().String(), authority))
	}
	if err != nil {
		end()
		if listener != nil {
			err = errors.Join(err, listener.Close())
		}
		return err
	}
	d.end, d.closing, d.reports = end, sync.OnceValue(d.close), newQueue(d.options.Report)
	d.serve(life, listener, certificate)
	return nil
}

// certificate makes the door's certificate. Its key is kept in memory only.
func (d *Door) certificate() (certificate tls.Certificate, authority []byte, err error) {
	if authority, err = webhookproxy.WriteCertificate(d.folder.Path); err != nil {
		return certificate, nil, err
	}
	file, key := filepath.Join(d.folder.Path, webhookproxy.CertificateFile), filepath.Join(d.folder.Path, webhookproxy.KeyFile)
	certificate, err = tls.LoadX509KeyPair(file, key)
	return certificate, authority, errors.Join(err, os.Remove(file), os.Remove(key))
}

func (d *Door) writeKubeconfig(address string, authority []byte) error {
	const name = "slipway"
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{Server: "https://" + address, CertificateAuthorityData: authority}
	config.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: string(d.token)}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name, Namespace: d.options.Namespace}
	config.CurrentContext = name
	text, err := clientcmd.Write(*config)
	if err != nil {
		return fmt.Errorf("write a kubeconfig: %w", err)
	}
	return safefs.WriteSecret(d.Kubeconfig(), text)
}

// serve begins to serve.
func (d *Door) serve(life context.Context, listener net.Listener, certificate tls.Certificate) {
	d.server = &http.Server{
		Handler: d, IdleTimeout: idleLimit, ReadHeaderTimeout: headerLimit,
		TLSConfig:   &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{certificate}},
		ErrorLog:    log.New(io.Discard, "", 0),
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

// Kubeconfig is the path of the file (0600) with which the process comes in.
func (d *Door) Kubeconfig() string { return filepath.Join(d.folder.Path, "kubeconfig") }

// Close ends the listener, all connections and all requests, watches and upgraded connections too, and removes the
// kubeconfig. It returns once all handlers have returned, and Report has returned for the last time. A second call
// waits for the first.
func (d *Door) Close() error { return d.closing() }

func (d *Door) close() error {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	d.end()
	err := d.server.Close()
	d.serving.Wait()
	d.handlers.Wait()
	d.reports.close()
	return errors.Join(err, d.folder.Remove())
}

// enter reports whether a handler may begin. Each that does ends with handlers.Done.
func (d *Door) enter() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.closed {
		d.handlers.Add(1)
	}
	return !d.closed
}

// knows reports whether a request carries the door's token.
func (d *Door) knows(r *http.Request) bool {
	scheme, token, _ := strings.Cut(strings.TrimSpace(r.Header.Get("Authorization")), " ")
	return strings.EqualFold(scheme, "bearer") && subtle.ConstantTimeCompare([]byte(token), d.token) == 1
}
