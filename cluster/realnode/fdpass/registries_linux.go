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

// A node has no connections to registries. The host sends the requests of a pull for it, and no others.
const (
	// askedHeader has the URL that a request is for.
	askedHeader = "Slipway-Asked"
	// refusedHeader has the reason why a request failed.
	refusedHeader = "Slipway-Refused"
	// brokenHeader marks a failure of the connection, after which the node may retry.
	brokenHeader = "Slipway-Broken"

	registryPath = "/v2/"   // path prefix of the registry API
	maxBody      = 64 << 10 // bytes of a token request, the only kind with a body
	maxHeader    = 64 << 10 // bytes of the header of a request or a reply
	maxLed       = 10_000   // URLs to remember; more clear the memory, and a pull finds them anew
	maxLeads     = 8        // URLs to remember from one reply, so that it cannot displace all others
	maxAsking    = 64       // connections of a node that carry requests
	maxConns     = 256      // connections to registries for a node, including idle and abandoned ones
)

// errNoPull means that a pull makes no such request.
var errNoPull = errors.New("a node may ask registries for images alone")

var (
	errStatus = errors.New("the registry's answer has a status that no answer to a pull has")
	errBusy   = fmt.Errorf("there are %d connections to registries for this node", maxConns)
)

// registries sends a node's requests to registries.
type registries struct {
	ways      Ways
	transport http.Transport
	conns     chan struct{} // a semaphore of connections
	mu        sync.Mutex
	knownURLs map[urlKey]bool // URLs that replies led to, for tokens and layers
}

// urlKey is the hash of a URL, which may be long, without its query.
type urlKey [sha256.Size]byte

// registries returns a handler of the node's requests to these registries. It uses HTTP/1, which buffers no more than
// the kernel for a node that does not read. HTTP/2 buffers megabytes of each reply.
func (w Ways) registries() *registries {
	r := &registries{ways: w, conns: make(chan struct{}, maxConns), knownURLs: map[urlKey]bool{}}
	r.transport = http.Transport{
		DialContext: r.dial, DisableCompression: true, MaxResponseHeaderBytes: maxHeader, MaxIdleConns: maxAsking,
		IdleConnTimeout: 90 * time.Second, TLSHandshakeTimeout: 10 * time.Second, ResponseHeaderTimeout: 5 * time.Minute, // a cache may first fetch a large layer
	}
	return r
}

// dial connects to a registry. It counts connections and not requests, because the transport keeps dialing after the
// node has given a request up.
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

// counted calls over when it is closed.
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
		panic(http.ErrAbortHandler) // aborts the reply, which without a length would seem complete
	}
}

// broken reports whether a connection broke off or timed out.
func broken(err error) bool {
	if late, is := errors.AsType[net.Error](err); is && late.Timeout() {
		return true
	}
	return slices.ContainsFunc([]error{io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE}, func(e error) bool { return errors.Is(err, e) })
}

// ask sends a node's request to the registry, if a pull makes such a request.
func (r *registries) ask(asked *http.Request) (*http.Response, error) {
	to, err := url.Parse(asked.Header.Get(askedHeader))
	if err != nil || to.Scheme != "https" && to.Scheme != "http" || to.Host == "" || to.User != nil {
		return nil, fmt.Errorf("%w: this is no address of one", errNoPull)
	}
	if !r.mayAsk(asked.Method, to) {
		return nil, fmt.Errorf("%w: not %s %s", errNoPull, asked.Method, (&url.URL{Scheme: to.Scheme, Host: to.Host, Path: to.Path}).String())
	}
	var body io.Reader // rereadable, so that the transport can retry on a new connection
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
	if answer.StatusCode < 200 || answer.StatusCode > 599 { // switching protocols, or an invalid status
		return nil, errors.Join(fmt.Errorf("%w: %d", errStatus, answer.StatusCode), answer.Body.Close())
	}
	r.rememberURLs(to, answer)
	return answer, nil
}

// mayAsk reports whether a pull makes such a request: to a registry, or to a URL that a registry's reply led to.
func (r *registries) mayAsk(method string, to *url.URL) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch method {
	case http.MethodGet, http.MethodHead:
		return strings.HasPrefix(path.Clean(to.Path)+"/", registryPath) || r.knownURLs[place(to)]
	case http.MethodPost: // a token request
		return r.knownURLs[place(to)]
	}
	return false
}

// place returns the key of a URL, without its query.
func place(u *url.URL) urlKey {
	return sha256.Sum256([]byte(u.Scheme + "://" + strings.ToLower(u.Host) + u.EscapedPath()))
}

// realm matches the URL of the token server in a WWW-Authenticate header.
var realm = regexp.MustCompile(`(?i)\brealm="([^"]*)"`)

// rememberURLs remembers the URLs that a reply leads to: of token servers and of layers.
func (r *registries) rememberURLs(asked *url.URL, answer *http.Response) {
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
			if len(r.knownURLs) >= maxLed {
				clear(r.knownURLs)
			}
			r.knownURLs[place(to)] = true
		}
	}
}

// connListener is a listener whose connections come from this process.
type connListener struct {
	conns chan net.Conn
	ended <-chan struct{}
}

func (h connListener) Accept() (net.Conn, error) {
	select {
	case c := <-h.conns:
		return c, nil
	case <-h.ended:
		return nil, net.ErrClosed
	}
}

func (h connListener) Close() error   { return nil }
func (h connListener) Addr() net.Addr { return &net.UnixAddr{Net: "unix"} }

// serve serves these connections until ctx ends. The server logs nothing, because nodes and registries would write the
// log.
func (h connListener) serve(ctx context.Context, r *registries) {
	defer r.transport.CloseIdleConnections()
	server := http.Server{
		Handler: r, MaxHeaderBytes: maxHeader, ErrorLog: log.New(io.Discard, "", 0),
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	_ = server.Serve(netutil.LimitListener(h, maxAsking))
	_ = server.Close()
}

// Transport returns a transport that connects to own, the cluster's registry as host:port, and sends other requests to
// the other side.
func (c *Client) Transport(own string) http.RoundTripper {
	direct, asking := http.DefaultTransport.(*http.Transport).Clone(), http.DefaultTransport.(*http.Transport).Clone()
	direct.DialContext = c.DialContext
	asking.Proxy, asking.DisableCompression, asking.MaxConnsPerHost = nil, true, maxAsking
	asking.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
		return c.DialContext(ctx, wire.Registries, "")
	}
	return transport{own, direct, asking}
}

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

// refusedError is the other side's reason why a request failed.
type refusedError struct {
	why    string
	broken bool
}

func (e *refusedError) Error() string { return e.why }

// Unwrap returns an error that marks the request as retryable, or nil.
func (e *refusedError) Unwrap() error {
	if e.broken {
		return io.ErrUnexpectedEOF
	}
	return nil
}
