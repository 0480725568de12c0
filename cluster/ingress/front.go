package ingress

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/netutil"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	corelisters "k8s.io/client-go/listers/core/v1"
	networkinglisters "k8s.io/client-go/listers/networking/v1"

	"github.com/slipway-dev/slipway/cluster/hostaddress"
	"github.com/slipway-dev/slipway/cluster/listeners"
)

// Backends connects to Services.
type Backends interface {
	// DialService connects to an endpoint of a Service's port, which is known by its name. An error with a method
	// Page() string has text for who asked.
	DialService(ctx context.Context, namespace, service, port string) (net.Conn, error)
}

// Options say for which Ingresses to answer, and where.
type Options struct {
	Backends Backends
	Range    hostaddress.Range // whose address of Ingresses is listened to
	Log      *slog.Logger
}

// The ports of Ingresses, which others may stand in for.
const (
	HTTP  = 80
	HTTPS = 443
)

// Front answers for Ingresses.
type Front struct {
	options   Options
	ingresses networkinglisters.IngressLister
	services  corelisters.ServiceLister
	secrets   corelisters.SecretLister
	changes   *listeners.Changes
	open      *listeners.Set[place, struct{}]
	group     sync.WaitGroup
	table     atomic.Pointer[table]
	keys      keys
	requests  turns         // that are passed on
	dials     turns         // to Services, which may outlive their requests
	grace     time.Duration // for both, at the end
	handler   http.Handler
}

// place is where to listen.
type place struct {
	at  netip.AddrPort
	tls bool
}

// grace is how long Run waits for requests that do not end when their connections do.
const grace = 2 * time.Second

// New returns a front that knows the cluster from informers, which have not been started yet.
func New(f informers.SharedInformerFactory, o Options) (*Front, error) {
	front := &Front{
		options: o, ingresses: f.Networking().V1().Ingresses().Lister(), services: f.Core().V1().Services().Lister(),
		secrets: f.Core().V1().Secrets().Lister(), requests: make(turns, mostRequests), dials: make(turns, mostRequests), grace: grace,
	}
	front.table.Store(newTable(nil))
	front.handler = front.newHandler()
	front.open = listeners.NewSet(front.listen, func(p place, _ struct{}, err error) {
		o.Log.Warn("cannot listen for Ingresses", "address", p.at, "error", err)
	})
	f.Core().V1().Secrets().Informer() // which is asked for when clients connect
	var err error
	front.changes, err = listeners.Watch(f.Networking().V1().Ingresses().Informer())
	return front, err
}

// Run answers until ctx ends. It returns once no request is passed on any more, or after some seconds.
func (f *Front) Run(ctx context.Context) {
	f.changes.Run(ctx, func() bool { return f.follow(ctx, f.served()) })
	f.follow(ctx, nil)
	f.group.Wait()
	f.settle()
}

// settle waits for the requests that are passed on, and lets none follow.
func (f *Front) settle() {
	ctx, cancel := context.WithTimeout(context.Background(), f.grace)
	defer cancel()
	if !f.requests.end(ctx) || !f.dials.end(ctx) {
		f.options.Log.Warn("requests of Ingresses are unfinished when the cluster ends")
	}
}

// served are the Ingresses to answer for: those with this front's address.
func (f *Front) served() []*networkingv1.Ingress {
	all, err := f.ingresses.List(labels.Everything())
	if err != nil {
		return nil // an informer's lister has no errors
	}
	return slices.DeleteFunc(slices.Clone(all), func(i *networkingv1.Ingress) bool { return len(f.places(i)) == 0 })
}

// follow has requests answered by the rules of Ingresses, listens where they say, and says whether it does everywhere.
func (f *Front) follow(ctx context.Context, all []*networkingv1.Ingress) (everywhere bool) {
	f.table.Store(newTable(slices.Clone(all)))
	wanted := map[place]struct{}{}
	for _, i := range all {
		for _, p := range f.places(i) {
			wanted[p] = struct{}{}
		}
	}
	return f.open.Keep(ctx, wanted)
}

// places are where the status of an Ingress says that it answers, as far as that is for this front.
func (f *Front) places(i *networkingv1.Ingress) []place {
	var all []place
	for _, at := range i.Status.LoadBalancer.Ingress {
		ip, err := netip.ParseAddr(at.IP)
		if err != nil || f.options.Range.Empty() || ip != f.options.Range.Ingress() {
			continue
		}
		for _, p := range at.Ports {
			switch to := netip.AddrPortFrom(ip, uint16(p.Port)); {
			case hostaddress.StandsFor(HTTP, p.Port):
				all = append(all, place{to, false})
			case hostaddress.StandsFor(HTTPS, p.Port):
				all = append(all, place{to, true})
			}
		}
	}
	return all
}

// Address is where an Ingress answers on this machine.
type Address struct {
	Namespace, Ingress string
	Port               int32 // the one that it would have elsewhere
	URL                string
	Problem            error // why it does not
}

// Addresses lists where Ingresses answer now, in an order that stays.
func (f *Front) Addresses() []Address {
	var all []Address
	for _, i := range f.served() {
		for _, p := range f.places(i) {
			_, wanted, err := f.open.At(p)
			if !wanted {
				continue // soon
			}
			a := Address{i.Namespace, i.Name, HTTP, "http://" + p.at.String(), err}
			if p.tls {
				a.Port, a.URL = HTTPS, "https://"+p.at.String()
			}
			all = append(all, a)
		}
	}
	slices.SortFunc(all, func(a, b Address) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Ingress, b.Ingress), cmp.Compare(a.URL, b.URL))
	})
	return all
}

const (
	// mostConns is how many connections of clients there are at a time.
	mostConns = 1024
	// headTime and idleTime are how long a client may take for a request's head, and to the next request.
	headTime, idleTime = 10 * time.Second, 2 * time.Minute
	// maxHead is the size of the largest head.
	maxHead = 64 << 10
	// mostStreams is how many requests there are at a time over one connection of HTTP/2, as browsers make.
	mostStreams = 100
)

// listen answers at a place until the function that it returns is called, which ends all connections there.
func (f *Front) listen(ctx context.Context, p place, _ struct{}) (func(), error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp4", p.at.String())
	if err != nil {
		return nil, err
	}
	listener = netutil.LimitListener(listener, mostConns)
	ctx, cancel := context.WithCancel(ctx)
	server := f.newServer(ctx, p)
	serve := server.Serve
	if p.tls {
		serve = func(l net.Listener) error { return server.ServeTLS(l, "", "") }
	}
	f.group.Go(func() {
		_ = serve(listener) // until the server is closed
	})
	return func() {
		cancel()             // by which connections end that are upgraded, of which the server knows nothing
		_ = listener.Close() // with which the server may not have begun yet
		_ = server.Close()
	}, nil
}

func (f *Front) newServer(ctx context.Context, p place) *http.Server {
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(p.tls)
	protocols.SetUnencryptedHTTP2(!p.tls)
	server := &http.Server{
		Handler: f.handler, ReadHeaderTimeout: headTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHead, Protocols: &protocols,
		HTTP2:    &http.HTTP2Config{MaxConcurrentStreams: mostStreams},
		ErrorLog: slog.NewLogLogger(f.options.Log.Handler(), slog.LevelDebug), BaseContext: func(net.Listener) context.Context { return ctx },
	}
	if p.tls {
		server.TLSConfig = f.tlsConfig()
	}
	return server
}
