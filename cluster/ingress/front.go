package ingress

import (
	"cmp"
	"context"
	"fmt"
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
	"k8s.io/client-go/tools/cache"

	"github.com/slipway-dev/slipway/cluster/hostaddress"
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
	synced    []cache.InformerSynced
	changed   chan struct{}
	group     sync.WaitGroup
	table     atomic.Pointer[table]
	keys      keys
	handler   http.Handler

	mu   sync.Mutex
	open map[place]*http.Server // Run alone changes it
	shut map[place]error        // what cannot be listened to; Run alone changes it
}

// place is where to listen.
type place struct {
	at  netip.AddrPort
	tls bool
}

// New returns a front that knows the cluster from informers, which have not been started yet.
func New(f informers.SharedInformerFactory, o Options) (*Front, error) {
	front := &Front{
		options: o, ingresses: f.Networking().V1().Ingresses().Lister(), services: f.Core().V1().Services().Lister(),
		secrets: f.Core().V1().Secrets().Lister(), changed: make(chan struct{}, 1), open: map[place]*http.Server{}, shut: map[place]error{},
	}
	front.table.Store(newTable(nil))
	front.handler = front.newHandler()
	notice := func() {
		select {
		case front.changed <- struct{}{}:
		default:
		}
	}
	registration, err := f.Networking().V1().Ingresses().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { notice() }, UpdateFunc: func(any, any) { notice() }, DeleteFunc: func(any) { notice() },
	})
	if err != nil {
		return nil, fmt.Errorf("follow Ingresses: %w", err)
	}
	front.synced = append(front.synced, registration.HasSynced)
	f.Core().V1().Secrets().Informer() // which is asked for when clients connect
	return front, nil
}

// retry is how long it takes until a listener is tried again that could not be had.
const retry = time.Second

// Run answers until ctx ends.
func (f *Front) Run(ctx context.Context) {
	defer func() {
		f.follow(ctx, nil)
		f.group.Wait()
	}()
	if !cache.WaitForCacheSync(ctx.Done(), f.synced...) {
		return
	}
	for ctx.Err() == nil {
		var again <-chan time.Time
		if !f.follow(ctx, f.served()) {
			again = time.After(retry)
		}
		select {
		case <-f.changed:
		case <-again:
		case <-ctx.Done():
		}
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
	wanted := map[place]bool{}
	for _, i := range all {
		for _, p := range f.places(i) {
			wanted[p] = true
		}
	}
	for p, server := range f.open {
		if !wanted[p] {
			_ = server.Close()
			f.set(p, nil, nil)
		}
	}
	everywhere = true
	for p := range wanted {
		if f.open[p] != nil {
			continue
		}
		server, err := f.listen(ctx, p)
		if err != nil {
			everywhere = false
			if f.shut[p] == nil {
				f.options.Log.Warn("cannot listen for Ingresses", "address", p.at, "error", err)
			}
		}
		f.set(p, server, err)
	}
	return everywhere
}

func (f *Front) set(p place, server *http.Server, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.open, p)
	delete(f.shut, p)
	if server != nil {
		f.open[p] = server
	}
	if err != nil {
		f.shut[p] = err
	}
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
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []Address
	for _, i := range f.served() {
		for _, p := range f.places(i) {
			if f.open[p] == nil && f.shut[p] == nil {
				continue
			}
			a := Address{i.Namespace, i.Name, HTTP, "http://" + p.at.String(), f.shut[p]}
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

func (f *Front) listen(ctx context.Context, p place) (*http.Server, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp4", p.at.String())
	if err != nil {
		return nil, err
	}
	listener = netutil.LimitListener(listener, mostConns)
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(p.tls)
	protocols.SetUnencryptedHTTP2(!p.tls)
	server := &http.Server{
		Handler: f.handler, ReadHeaderTimeout: headTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHead, Protocols: &protocols,
		HTTP2:    &http.HTTP2Config{MaxConcurrentStreams: mostStreams},
		ErrorLog: slog.NewLogLogger(f.options.Log.Handler(), slog.LevelDebug), BaseContext: func(net.Listener) context.Context { return ctx },
	}
	serve := server.Serve
	if p.tls {
		server.TLSConfig = f.tlsConfig()
		serve = func(l net.Listener) error { return server.ServeTLS(l, "", "") }
	}
	f.group.Go(func() {
		_ = serve(listener)  // until the server is closed
		_ = listener.Close() // which it may not have begun with
	})
	return server, nil
}
