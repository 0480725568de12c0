package fdpass

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/net/netutil"

	"github.com/slipway-dev/slipway/cluster/realnode/wire"
	"github.com/slipway-dev/slipway/cluster/registry/places"
)

// A node has no connection to registries. It has the host ask them: for what a pull asks for, and nothing else.
const (
	// askedHeader has the address that a request is for.
	askedHeader = "Slipway-Asked"
	// refusedHeader says why there is no answer to a request.
	refusedHeader = "Slipway-Refused"
	// brokenHeader says of such a request that a connection has broken off, so that another try may help.
	brokenHeader = "Slipway-Broken"

	registryPath = "/v2/"   // of all that a registry has
	maxBody      = 64 << 10 // bytes of a request for a token, the only one with a body
	maxHeader    = 64 << 10 // bytes of the header of a request or an answer
	maxLed       = 10_000   // addresses that are remembered; then they are found anew
	maxLeads     = 8        // of one answer, so that none has all others forgotten
	maxAsking    = 64       // connections of a node with requests
	maxConns     = 256      // connections to registries for it, some of which are idle or not wanted any more
)

// errNoPull says that a request is none that pulls make.
var errNoPull = errors.New("a node may ask registries for images alone")

var (
	errStatus = errors.New("the registry's answer has a status that no answer to a pull has")
	errBusy   = fmt.Errorf("there are %d connections to registries for this node", maxConns)
)

// registries answers a node's requests with what registries answer.
type registries struct {
	ways      Ways
	transport http.Transport
	conns     chan struct{} // one for each connection
	mu        sync.Mutex
	led       map[lead]bool // that answers led to: for tokens and layers
}

// lead is what is kept of an address, which may be long, without its question.
type lead [sha256.Size]byte

// registries are those that these ways lead to. They are asked by HTTP/1, which reads no further ahead of a node that
// does not read than the kernel does; HTTP/2 has megabytes of each answer in memory.
func (w Ways) registries() *registries {
	r := &registries{ways: w, conns: make(chan struct{}, maxConns), led: map[lead]bool{}}
	r.transport = http.Transport{
		DialContext: r.dial, DisableCompression: true, MaxResponseHeaderBytes: maxHeader, MaxIdleConns: maxAsking,
		IdleConnTimeout: 90 * time.Second, TLSHandshakeTimeout: 10 * time.Second, ResponseHeaderTimeout: 5 * time.Minute, // a cache may fetch a large layer before
	}
	return r
}

// dial connects to a registry. The transport goes on with that when the node has given its request up, so that the
// connections count, and not the requests.
func (r *registries) dial(ctx context.Context, network, address string) (net.Conn, error) {
	select {
	case r.conns <- struct{}{}:
	default:
		return nil, errBusy
	}
	conn, err := r.ways.dialRegistry(ctx, network, address)
	if err != nil {
		<-r.conns
		return nil, err
	}
	return counted{conn, sync.OnceFunc(func() { <-r.conns })}, nil
}

// counted is a connection that counts until it is closed.
type counted struct {
	net.Conn
	over func()
}

func (c counted) Close() error {
	defer c.over()
	return c.Conn.Close()
}

func (r *registries) ServeHTTP(w http.ResponseWriter, asked *http.Request) {
	answer, err := r.ask(asked)
	if err != nil {
		w.Header().Set(refusedHeader, strings.Join(strings.Fields(err.Error()), " "))
		if broken(err) {
			w.Header().Set(brokenHeader, "true")
		}
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer answer.Body.Close()
	maps.Copy(w.Header(), answer.Header)
	w.Header().Del(refusedHeader)
	w.WriteHeader(answer.StatusCode)
	if _, err := io.Copy(w, answer.Body); err != nil {
		panic(http.ErrAbortHandler) // else an answer without a length would seem to be complete
	}
}

// broken says whether a connection has broken off, or was not there in time.
func broken(err error) bool {
	if late, is := errors.AsType[net.Error](err); is && late.Timeout() {
		return true
	}
	return slices.ContainsFunc([]error{io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE}, func(e error) bool { return errors.Is(err, e) })
}

// ask has a registry answer a node's request.
func (r *registries) ask(asked *http.Request) (*http.Response, error) {
	to, err := url.Parse(asked.Header.Get(askedHeader))
	if err != nil || to.Scheme != "https" && to.Scheme != "http" || to.Host == "" || to.User != nil {
		return nil, fmt.Errorf("%w: this is no address of one", errNoPull)
	}
	if !r.mayAsk(asked.Method, to) {
		return nil, fmt.Errorf("%w: not %s %s", errNoPull, asked.Method, (&url.URL{Scheme: to.Scheme, Host: to.Host, Path: to.Path}).String())
	}
	var body io.Reader // one that can be sent again, as when a registry has closed an idle connection meanwhile
	if asked.Method == http.MethodPost {
		text, err := io.ReadAll(http.MaxBytesReader(nil, asked.Body, maxBody))
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(asked.Context(), asked.Method, to.String(), body)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"Accept", "Authorization", "Content-Type", "Range", "User-Agent"} {
		request.Header[name] = asked.Header[name]
	}
	answer, err := r.transport.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode < 200 || answer.StatusCode > 599 { // another protocol's, or none that can be passed on
		return nil, errors.Join(fmt.Errorf("%w: %d", errStatus, answer.StatusCode), answer.Body.Close())
	}
	r.learn(to, answer)
	return answer, nil
}

// mayAsk says whether a pull makes such a request: of a registry, or of where one has led it.
func (r *registries) mayAsk(method string, to *url.URL) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch method {
	case http.MethodGet, http.MethodHead:
		return strings.HasPrefix(path.Clean(to.Path)+"/", registryPath) || r.led[place(to)]
	case http.MethodPost: // for a token
		return r.led[place(to)]
	}
	return false
}

// place is an address without its question.
func place(u *url.URL) lead {
	return sha256.Sum256([]byte(u.Scheme + "://" + strings.ToLower(u.Host) + u.EscapedPath()))
}

// realm is where a registry has tokens asked for.
var realm = regexp.MustCompile(`(?i)\brealm="([^"]*)"`)

// learn remembers where an answer leads: to what gives tokens, or to where a layer is.
func (r *registries) learn(asked *url.URL, answer *http.Response) {
	var leads []string
	if answer.StatusCode == http.StatusUnauthorized {
		for _, challenge := range answer.Header.Values("WWW-Authenticate") {
			for _, found := range realm.FindAllStringSubmatch(challenge, maxLeads) {
				leads = append(leads, found[1])
			}
		}
	}
	if answer.StatusCode >= 300 && answer.StatusCode < 400 {
		leads = append(leads, answer.Header.Get("Location"))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, lead := range leads[:min(len(leads), maxLeads)] {
		if to, err := asked.Parse(lead); err == nil {
			if len(r.led) >= maxLed {
				clear(r.led)
			}
			r.led[place(to)] = true
		}
	}
}

// handed is a listener for connections that are handed to it.
type handed struct {
	conns chan net.Conn
	ended <-chan struct{}
}

func (h handed) Accept() (net.Conn, error) {
	select {
	case c := <-h.conns:
		return c, nil
	case <-h.ended:
		return nil, net.ErrClosed
	}
}

func (h handed) Close() error   { return nil }
func (h handed) Addr() net.Addr { return &net.UnixAddr{Net: "unix"} }

// serve answers requests on the connections that are handed over, until ctx ends. What the server would log is written
// by nodes and by registries.
func (h handed) serve(ctx context.Context, r *registries) {
	defer r.transport.CloseIdleConnections()
	server := http.Server{
		Handler: r, MaxHeaderBytes: maxHeader, ErrorLog: log.New(io.Discard, "", 0),
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	_ = server.Serve(netutil.LimitListener(h, maxAsking))
	_ = server.Close()
}

// Transport has the other side ask registries, and connects to own, which is host:port of the cluster's registry.
func (c *Client) Transport(own string) http.RoundTripper {
	direct, asking := http.DefaultTransport.(*http.Transport).Clone(), http.DefaultTransport.(*http.Transport).Clone()
	direct.DialContext = c.DialContext
	asking.Proxy, asking.DisableCompression, asking.MaxConnsPerHost = nil, true, maxAsking
	asking.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
		return c.DialContext(ctx, wire.Registries, "")
	}
	return transport{own, direct, asking}
}

// transport is a node's way to its cluster's registry, and to others by requests.
type transport struct {
	own            string
	direct, asking http.RoundTripper
}

func (t transport) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.URL.Host == t.own || places.Same(request.URL.Host, t.own) {
		return t.direct.RoundTrip(request)
	}
	asking := request.Clone(request.Context())
	asking.Header.Set(askedHeader, request.URL.String())
	asking.URL, asking.Host = &url.URL{Scheme: "http", Host: wire.Registries, Path: "/"}, ""
	answer, err := t.asking.RoundTrip(asking)
	if err != nil {
		return nil, err
	}
	if why := answer.Header.Get(refusedHeader); why != "" {
		_ = answer.Body.Close()
		return nil, &refusedError{why, answer.Header.Get(brokenHeader) != ""}
	}
	answer.Request = request
	return answer, nil
}

// refusedError is why a request has no answer.
type refusedError struct {
	why    string
	broken bool
}

func (e *refusedError) Error() string { return e.why }

// Unwrap returns the error by which a client knows that it may try again.
func (e *refusedError) Unwrap() error {
	if e.broken {
		return io.ErrUnexpectedEOF
	}
	return nil
}
