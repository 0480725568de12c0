package ingress

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
)

// h2c is the appProtocol of ports that speak HTTP/2 without TLS.
const h2c = "kubernetes.io/h2c"

// way is where a request goes.
type way struct {
	namespace, service, port string
	h2c                      bool
}

// host is another one for each port, since a transport may send a request of HTTP/2 by a connection that was made for
// another request with the same host.
func (w way) host() string {
	return strings.TrimPrefix(w.port+"."+w.service+"."+w.namespace, ".")
}

// passed is a request that is passed on; its context has it.
type passed struct {
	way
	request context.Context // ends with the request
}

type passedKey struct{}

func passedOf(ctx context.Context) passed {
	p, _ := ctx.Value(passedKey{}).(passed)
	return p
}

var (
	// errNoPort says that a Service has no port of which an Ingress speaks.
	errNoPort = errors.New("an Ingress names a TCP port that does not exist")
	// errCrowd says that too many connections to Services are made at a time.
	errCrowd = errors.New("too many connections of Ingresses to Services")
	// errExternal says that a Service stands for a name, which nothing here connects to.
	errExternal = errors.New("an Ingress names a Service of the type ExternalName, but needs endpoints")
)

// mostRequests is how many requests are passed on at a time: each has a connection of its own to a Service, and one
// client of HTTP/2 makes hundreds.
const mostRequests = mostConns

// newHandler passes requests on by the table.
func (f *Front) newHandler() http.Handler {
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			to := passedOf(r.In.Context())
			r.Out.URL.Scheme, r.Out.URL.Host = "http", to.host()
			r.Out.Host = r.In.Host
			r.SetXForwarded()
		},
		Transport: f.transport(), FlushInterval: -1, ErrorHandler: refuse,
		ErrorLog: slog.NewLogLogger(f.options.Log.Handler(), slog.LevelDebug), // else the process's stderr
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !f.requests.take() {
			say(w, http.StatusServiceUnavailable, "slipway: too many requests of Ingresses\n")
			return
		}
		defer f.requests.leave()
		to, ok := f.table.Load().find(r.Host, r.URL.Path)
		if !ok {
			say(w, http.StatusNotFound, fmt.Sprintf("slipway: no Ingress has a rule for %q and no default backend\n\n  slipway kubectl get ingress --all-namespaces\n", r.Host+r.URL.Path))
			return
		}
		way, err := f.wayTo(to)
		if err != nil {
			refuse(w, r, err)
			return
		}
		proxy.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), passedKey{}, passed{way, r.Context()})))
	})
}

// wayTo finds the Service's port.
func (f *Front) wayTo(b backend) (way, error) {
	s, err := f.services.Services(b.namespace).Get(b.service)
	if err != nil {
		return way{}, fmt.Errorf("an Ingress names a Service that does not exist: %w", err)
	}
	if s.Spec.Type == corev1.ServiceTypeExternalName {
		return way{}, fmt.Errorf("%w: %s/%s", errExternal, b.namespace, b.service)
	}
	i := slices.IndexFunc(s.Spec.Ports, func(p corev1.ServicePort) bool {
		named := b.port.Name != "" && p.Name == b.port.Name || b.port.Name == "" && p.Port == b.port.Number
		return named && p.Protocol == corev1.ProtocolTCP
	})
	if i < 0 {
		return way{}, fmt.Errorf("%w: %s of Service %s/%s", errNoPort, cmp.Or(b.port.Name, fmt.Sprint(b.port.Number)), b.namespace, b.service)
	}
	p := s.Spec.Ports[i]
	return way{b.namespace, b.service, p.Name, p.AppProtocol != nil && *p.AppProtocol == h2c}, nil
}

// dial connects to the Service of a request, and gives up when that ends. The context of a transport does not, since
// the connection may be of use to other requests.
func (f *Front) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	if !f.dials.take() {
		return nil, errCrowd
	}
	defer f.dials.leave()
	r := passedOf(ctx)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(r.request, cancel)()
	return f.options.Backends.DialService(ctx, r.namespace, r.service, r.port)
}

// transport connects anew for each request, so that each goes to an endpoint that is ready then.
func (f *Front) transport() http.RoundTripper {
	var one, two http.Protocols
	one.SetHTTP1(true)
	two.SetUnencryptedHTTP2(true)
	return &byProtocol{
		one: &http.Transport{DialContext: f.dial, DisableKeepAlives: true, DisableCompression: true, Protocols: &one, MaxResponseHeaderBytes: maxHead},
		two: &http.Transport{DialContext: f.dial, DisableKeepAlives: true, DisableCompression: true, Protocols: &two, MaxResponseHeaderBytes: maxHead},
	}
}

// byProtocol speaks HTTP/1 or HTTP/2 with a Service.
type byProtocol struct{ one, two http.RoundTripper }

func (b *byProtocol) RoundTrip(r *http.Request) (*http.Response, error) {
	if passedOf(r.Context()).h2c {
		return b.two.RoundTrip(r)
	}
	return b.one.RoundTrip(r)
}

// refuse says why a request is not passed on.
func refuse(w http.ResponseWriter, _ *http.Request, err error) {
	var explained interface{ Page() string }
	switch {
	case errors.As(err, &explained):
		say(w, http.StatusServiceUnavailable, explained.Page())
	case errors.Is(err, context.Canceled): // the client has gone
		w.WriteHeader(http.StatusBadGateway)
	default:
		say(w, http.StatusBadGateway, fmt.Sprintf("slipway: %v\n", err))
	}
}

func say(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	_, _ = io.WriteString(w, text)
}

// errNoCertificate says that no Ingress has a certificate for a name.
var errNoCertificate = errors.New("no certificate")

// tlsConfig has the certificates of the Secrets that Ingresses name.
func (f *Front) tlsConfig() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		named, ok := f.table.Load().secretOf(hello.ServerName)
		if !ok {
			return nil, fmt.Errorf("%w: no Ingress has one for %q", errNoCertificate, hello.ServerName)
		}
		s, err := f.secrets.Secrets(named.namespace).Get(named.name)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errNoCertificate, err)
		}
		return f.keys.of(s)
	}}
}

// keys remembers the certificates of Secrets, since each connection asks for one.
type keys struct {
	mu    sync.Mutex
	known map[string]known // by the Secret's namespace and name
}

type known struct {
	version string
	pair    *tls.Certificate
}

// mostKnown bounds what is remembered.
const mostKnown = 256

func (k *keys) of(s *corev1.Secret) (*tls.Certificate, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	name, version := s.Namespace+"/"+s.Name, string(s.UID)+s.ResourceVersion
	if one, ok := k.known[name]; ok && one.version == version {
		return one.pair, nil
	}
	pair, err := tls.X509KeyPair(s.Data[corev1.TLSCertKey], s.Data[corev1.TLSPrivateKeyKey])
	if err != nil {
		return nil, fmt.Errorf("%w: Secret %s: %w", errNoCertificate, strings.ToValidUTF8(name, ""), err)
	}
	if k.known == nil || len(k.known) >= mostKnown {
		k.known = map[string]known{}
	}
	k.known[name] = known{version, &pair}
	return &pair, nil
}
