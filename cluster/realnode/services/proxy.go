package services

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	corelisters "k8s.io/client-go/listers/core/v1"
	discoverylisters "k8s.io/client-go/listers/discovery/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/slipway-dev/slipway/cluster/network"
)

// Inside makes sockets in the network of the nodes.
type Inside interface {
	DialContext(ctx context.Context, network, address string) (net.Conn, error)
	Listen(ctx context.Context, address string) (net.Listener, error)
	ListenPacket(ctx context.Context, address string) (net.PacketConn, error)
}

// Options say between whom to pass connections on.
type Options struct {
	Inside Inside
	// PortsOnly leaves out the Services' own addresses, which there is no network for: ports of this machine are listened to.
	PortsOnly bool
	Server    string     // the API server, on this machine's loopback
	Names     netip.Addr // the Service for names, which is served already
	Log       *slog.Logger
}

// Proxy passes connections to Services on.
type Proxy struct {
	options  Options
	services corelisters.ServiceLister
	slices   discoverylisters.EndpointSliceLister
	synced   []cache.InformerSynced
	changed  chan struct{}
	group    sync.WaitGroup

	open map[key]closer // by Run alone
}

// key names a listener.
type key struct {
	address  string
	protocol corev1.Protocol
	host     bool // on this machine, not in the nodes' network
}

// closer is a listener with what it leads to.
type closer struct {
	target target
	close  func()
}

// New returns a proxy that knows the cluster from informers, which have not been started yet.
func New(f informers.SharedInformerFactory, o Options) (*Proxy, error) {
	p := &Proxy{
		options: o, services: f.Core().V1().Services().Lister(), slices: f.Discovery().V1().EndpointSlices().Lister(),
		changed: make(chan struct{}, 1), open: map[key]closer{},
	}
	registration, err := f.Core().V1().Services().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { p.notice() }, UpdateFunc: func(any, any) { p.notice() }, DeleteFunc: func(any) { p.notice() },
	})
	if err != nil {
		return nil, fmt.Errorf("follow Services: %w", err)
	}
	p.synced = []cache.InformerSynced{registration.HasSynced, f.Discovery().V1().EndpointSlices().Informer().HasSynced}
	return p, nil
}

func (p *Proxy) notice() {
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

// retry is how long it takes until a listener is tried again that could not be had.
const retry = time.Second

// Run passes connections on until ctx ends. It calls ready once all Services are listened for.
func (p *Proxy) Run(ctx context.Context, ready func()) {
	defer func() {
		p.follow(ctx, nil)
		p.group.Wait()
	}()
	if !cache.WaitForCacheSync(ctx.Done(), p.synced...) {
		return
	}
	for first := true; ctx.Err() == nil; first = false {
		var again <-chan time.Time
		if !p.follow(ctx, p.wanted()) {
			again = time.After(retry)
		}
		if first {
			ready()
		}
		select {
		case <-p.changed:
		case <-again:
		case <-ctx.Done():
		}
	}
}

// wanted are the listeners that there should be.
func (p *Proxy) wanted() map[key]target {
	all, err := p.services.List(labels.Everything())
	if err != nil {
		return nil // an informer's lister has no errors
	}
	wanted := map[key]target{}
	for _, s := range all {
		for _, port := range s.Spec.Ports {
			t := target{s.Namespace, s.Name, port.Name, port.Protocol, s.Spec.SessionAffinity == corev1.ServiceAffinityClientIP}
			for _, ip := range s.Spec.ClusterIPs {
				if a, err := netip.ParseAddr(ip); err == nil && a.Is4() && a != p.options.Names && !p.options.PortsOnly {
					wanted[key{portOf(ip, port.Port), port.Protocol, false}] = t
				}
			}
			if port.NodePort != 0 {
				wanted[key{portOf("127.0.0.1", port.NodePort), port.Protocol, true}] = t
			}
		}
	}
	return wanted
}

// follow opens and closes listeners, and says whether all that are wanted are there.
func (p *Proxy) follow(ctx context.Context, wanted map[key]target) (all bool) {
	for k, c := range p.open {
		if wanted[k] != c.target {
			c.close()
			delete(p.open, k)
		}
	}
	all = true
	for k, t := range wanted {
		if _, ok := p.open[k]; ok {
			continue
		}
		closeIt, err := p.listen(ctx, k, t)
		if err != nil {
			p.options.Log.Warn("cannot listen for a Service", "namespace", t.namespace, "service", t.service, "address", k.address, "error", err)
			all = false
			continue
		}
		p.open[k] = closer{t, closeIt}
	}
	return all
}

func (p *Proxy) listen(ctx context.Context, k key, t target) (func(), error) {
	if k.protocol == corev1.ProtocolUDP {
		return p.listenUDP(ctx, k, t)
	}
	if k.protocol != corev1.ProtocolTCP {
		return func() {}, nil // nobody would know what to do with it
	}
	listener, err := p.listener(ctx, k)
	if err != nil {
		return nil, err
	}
	p.group.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			p.group.Go(func() { p.pass(ctx, conn, t) })
		}
	})
	return func() { _ = listener.Close() }, nil
}

func (p *Proxy) listener(ctx context.Context, k key) (net.Listener, error) {
	if k.host {
		return (&net.ListenConfig{}).Listen(ctx, "tcp4", k.address)
	}
	return p.options.Inside.Listen(ctx, k.address)
}

// pass joins a connection to one with an endpoint.
func (p *Proxy) pass(ctx context.Context, conn net.Conn, t target) {
	defer conn.Close()
	to, err := p.dial(ctx, "tcp", t, conn.RemoteAddr())
	if err != nil {
		if c, ok := conn.(*net.TCPConn); ok {
			_ = c.SetLinger(0) // the client sees that it is refused
		}
		return
	}
	defer to.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close(); _ = to.Close() })
	defer stop()
	done := make(chan struct{})
	go func() {
		defer close(done)
		copyHalf(to, conn)
	}()
	copyHalf(conn, to)
	<-done
}

// copyHalf copies one direction and passes its end on.
func copyHalf(to, from net.Conn) {
	if _, err := io.Copy(to, from); err != nil {
		_, _ = to.Close(), from.Close()
		return
	}
	if c, ok := to.(interface{ CloseWrite() error }); ok {
		_ = c.CloseWrite()
	}
}

// dialLimit bounds the way to one endpoint.
const dialLimit = 5 * time.Second

// dial connects to the first endpoint that takes the connection.
func (p *Proxy) dial(ctx context.Context, protocol string, t target, client net.Addr) (net.Conn, error) {
	if t.namespace == corev1.NamespaceDefault && t.service == "kubernetes" {
		return (&net.Dialer{}).DialContext(ctx, protocol, p.options.Server)
	}
	all, err := endpoints(p.slices, t)
	if err != nil {
		return nil, err
	}
	err = fmt.Errorf("the Service %s/%s has no ready endpoints", t.namespace, t.service)
	for _, at := range order(all, t, client) {
		limited, cancel := context.WithTimeout(ctx, dialLimit)
		var conn net.Conn
		conn, err = p.dialEndpoint(limited, protocol, at)
		cancel()
		if err == nil {
			return conn, nil
		}
	}
	return nil, err
}

// dialEndpoint connects in the nodes' network, or from this machine to what is not in there.
func (p *Proxy) dialEndpoint(ctx context.Context, protocol string, at netip.AddrPort) (net.Conn, error) {
	switch {
	case at.Addr() == network.Host:
		return (&net.Dialer{}).DialContext(ctx, protocol, netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), at.Port()).String())
	case network.Simulated(at.Addr()):
		return p.options.Inside.DialContext(ctx, protocol, at.String())
	}
	return (&net.Dialer{}).DialContext(ctx, protocol, at.String())
}
