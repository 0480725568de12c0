// Package webhookproxy serves the webhooks of a manager that comes and goes.
//
//	proxy, err := webhookproxy.Listen(ctx, webhookproxy.Options{…}) // has the port and the certificate for as long as it lives
//	proxy.Forward("127.0.0.1:9443")                                // to a manager that is about to serve there
//	proxy.Hold("api/v1/job_types.go:12:3: undefined: x")           // while there is none
//	err = proxy.Close()
//
// A call that comes while no manager serves waits for the next one, for nine tenths of the time that the API server
// gives it; then its answer is 503 with the reason. A call that a manager did not answer, since it ended, is made
// again: webhooks have to be idempotent
// (https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers).
package webhookproxy

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// usualTimeout is how long the API server waits for a webhook that does not say otherwise, in
	// k8s.io/api/admissionregistration/v1. It sends the time as the query's parameter "timeout".
	usualTimeout = 10 * time.Second
	// maxRepeated bounds the calls and answers that are kept in memory, so that a call can be made again. An object has
	// at most 3 MiB, and an admission review two of them.
	maxRepeated = 8 << 20
	// maxTimeout is the longest that the API server waits for a webhook.
	maxTimeout = 30 * time.Second
	// maxCalls bounds the calls that are held or made at a time.
	maxCalls = 256
	// retryPause is how often a manager that is about to serve is tried.
	retryPause = 10 * time.Millisecond
	// headerTimeout bounds the wait for a request's header.
	headerTimeout = 10 * time.Second
)

// errBusy is why a call is not even held.
var errBusy = errors.New("too many calls of webhooks wait")

// errHeld is why a call has no answer: no manager serves.
var errHeld = errors.New("no manager serves")

// Options say where a proxy listens.
type Options struct {
	Address     string          // host:port; port 0 picks a free one
	Certificate tls.Certificate // of the proxy, and of the managers
	Authority   []byte          // who issued it, as PEM
	// Own handles requests that are not for the manager, by their paths. It reports whether a request was one. May be
	// nil.
	Own func(http.ResponseWriter, *http.Request) bool
	// Waiting is called when a call has to wait. May be nil.
	Waiting func(path string)
}

// A Proxy listens for calls of webhooks.
type Proxy struct {
	options   Options
	listener  net.Listener
	server    *http.Server
	transport *http.Transport
	ended     chan struct{}
	calls     chan struct{} // has a value for each call that goes on

	mu      sync.Mutex
	manager string        // host:port; empty while no manager is expected
	why     string        // no manager serves
	refuses bool          // calls do not wait for one
	refused int           // calls, so
	changed chan struct{} // closed when these change
}

// Listen begins to listen. Until [Proxy.Forward] is called, calls wait.
func Listen(ctx context.Context, o Options) (*Proxy, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.Address)
	if err != nil {
		return nil, fmt.Errorf("serve webhooks: %w", err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(o.Authority)
	p := &Proxy{options: o, listener: listener, ended: make(chan struct{}), calls: make(chan struct{}, maxCalls), changed: make(chan struct{}), why: "the manager has not started yet"}
	// Managers are asked by HTTP/1.1: a server of HTTP/2 that is about to end waits for its clients to leave.
	p.transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, DisableCompression: true}
	p.server = &http.Server{
		Handler: http.HandlerFunc(p.serve), ReadHeaderTimeout: headerTimeout, ErrorLog: log.New(io.Discard, "", 0),
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{o.Certificate}, MinVersion: tls.VersionTLS12},
	}
	go func() {
		defer close(p.ended)
		_ = p.server.ServeTLS(listener, "", "") // until Close
	}()
	return p, nil
}

// Address is where the proxy listens, host:port.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// Forward sends calls to the manager at host:port. It may not serve yet: calls wait for it.
func (p *Proxy) Forward(manager string) {
	p.set(manager, "the manager does not serve its webhooks yet", false)
}

// Hold lets calls wait for the next manager; why is what they are answered if none comes in time.
func (p *Proxy) Hold(why string) { p.set("", why, false) }

// Refuse answers calls at once, as if no manager listened, until the next Forward or Hold; why is the reason.
func (p *Proxy) Refuse(why string) { p.set("", why, true) }

// Refused is how many calls were answered so.
func (p *Proxy) Refused() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.refused
}

func (p *Proxy) set(manager, why string, refuses bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.manager, p.why, p.refuses = manager, why, refuses
	close(p.changed)
	p.changed = make(chan struct{})
	p.transport.CloseIdleConnections() // to the manager before
}

func (p *Proxy) state() (manager, why string, changed <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.manager, p.why, p.changed
}

// refusing reports whether a call is refused at once, and counts it.
func (p *Proxy) refusing() (why string, is bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refuses {
		p.refused++
	}
	return p.why, p.refuses
}

// AwaitServing waits until the manager of [Proxy.Forward] serves, with the proxy's certificate.
func (p *Proxy) AwaitServing(ctx context.Context) error {
	dialer := &tls.Dialer{Config: p.transport.TLSClientConfig}
	for {
		manager, _, changed := p.state()
		if manager != "" {
			conn, err := dialer.DialContext(ctx, "tcp", manager)
			if err == nil {
				return conn.Close()
			}
		}
		if err := pause(ctx, changed); err != nil {
			return err
		}
	}
}

// pause waits for a moment, or until something changes.
func pause(ctx context.Context, changed <-chan struct{}) error {
	timer := time.NewTimer(retryPause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-changed:
	case <-timer.C:
	}
	return nil
}

// Close ends all calls.
func (p *Proxy) Close() error {
	err := p.server.Close()
	<-p.ended
	p.transport.CloseIdleConnections()
	return err
}

func (p *Proxy) serve(w http.ResponseWriter, r *http.Request) {
	if p.options.Own != nil && p.options.Own(w, r) {
		return
	}
	select {
	case p.calls <- struct{}{}:
		defer func() { <-p.calls }()
	default:
		refuse(w, errBusy)
		return
	}
	limit := patience(r)
	ctx, cancel := context.WithTimeout(r.Context(), limit)
	defer cancel()
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(limit)) // of a caller that does not send its call
	body, whole, err := read(r.Body)
	if err != nil {
		refuse(w, err)
		return
	}
	answer, err := p.call(ctx, r, body, whole)
	if err != nil {
		refuse(w, err)
		return
	}
	defer answer.Body.Close()
	for name, values := range answer.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.StatusCode)
	if _, err := io.Copy(w, answer.Body); err != nil {
		panic(http.ErrAbortHandler) // what was sent is no answer
	}
}

// patience is how long a call may wait: nine tenths of what the API server gives it, so that it gets the reason.
func patience(r *http.Request) time.Duration {
	timeout, err := time.ParseDuration(r.URL.Query().Get("timeout"))
	if err != nil || timeout <= 0 {
		timeout = usualTimeout
	}
	return min(timeout, maxTimeout) * 9 / 10
}

// read reads a body as far as it is kept; whole reports whether that is all.
func read(body io.Reader) (kept []byte, whole bool, err error) {
	kept, err = io.ReadAll(io.LimitReader(body, maxRepeated))
	return kept, len(kept) < maxRepeated, err
}

// call has a manager answer, as soon as one does. A call that is too large to be kept is made once.
func (p *Proxy) call(ctx context.Context, r *http.Request, body []byte, whole bool) (*http.Response, error) {
	waiting := p.options.Waiting
	for {
		manager, _, changed := p.state()
		if why, is := p.refusing(); is {
			return nil, fmt.Errorf("%w: %s", errHeld, why)
		}
		err := errHeld
		if manager != "" {
			var answer *http.Response
			if answer, err = p.ask(ctx, manager, r, body, whole); err == nil {
				return answer, nil
			}
		}
		if errors.Is(err, errPartial) {
			return nil, err
		}
		if waiting != nil {
			waiting(r.URL.Path)
			waiting = nil
		}
		if ended := pause(ctx, changed); ended != nil {
			_, why, _ := p.state()
			return nil, fmt.Errorf("%w: %s", errHeld, why)
		}
	}
}

// errPartial is why a call is not made again.
var errPartial = errors.New("the manager did not answer a call that is too large to be made again")

// ask makes one call. An answer that is kept is complete.
func (p *Proxy) ask(ctx context.Context, manager string, r *http.Request, body []byte, whole bool) (*http.Response, error) {
	var source io.Reader = bytes.NewReader(body)
	if !whole {
		source = io.MultiReader(source, r.Body)
		ctx = r.Context() // it takes its time
	}
	url := *r.URL
	url.Scheme, url.Host = "https", manager
	call, err := http.NewRequestWithContext(ctx, r.Method, url.String(), source)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errPartial, err)
	}
	call.Header = r.Header.Clone()
	if call.ContentLength = int64(len(body)); !whole {
		call.ContentLength = r.ContentLength
	}
	answer, err := p.transport.RoundTrip(call)
	if err != nil {
		if !whole && !refused(err) {
			err = fmt.Errorf("%w: %w", errPartial, err)
		}
		return nil, err
	}
	kept, complete, err := read(answer.Body)
	if err != nil {
		_ = answer.Body.Close()
		return nil, err
	}
	rest := answer.Body
	answer.Body = closing{bytes.NewReader(kept), rest}
	if !complete {
		answer.Body = closing{io.MultiReader(bytes.NewReader(kept), rest), rest}
	}
	return answer, nil
}

// refused reports whether no connection was made, so that nothing of a call was sent.
func refused(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial"
}

type closing struct {
	io.Reader
	io.Closer
}

// refuse answers that there is no manager, in the form that the API server shows to its user.
func refuse(w http.ResponseWriter, err error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusServiceUnavailable)
	_ = json.NewEncoder(w).Encode(metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Code: http.StatusServiceUnavailable,
		Reason: metav1.StatusReasonServiceUnavailable, Message: "slipway: " + cmp.Or(err.Error(), http.StatusText(http.StatusServiceUnavailable)),
	})
}
