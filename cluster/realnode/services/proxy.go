package services

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	corelisters "k8s.io/client-go/listers/core/v1"
	discoverylisters "k8s.io/client-go/listers/discovery/v1"

	"github.com/slipway-dev/slipway/cluster/connlimit"
	"github.com/slipway-dev/slipway/cluster/hostaddress"
	"github.com/slipway-dev/slipway/cluster/listeners"
	"github.com/slipway-dev/slipway/cluster/network"
	"github.com/slipway-dev/slipway/cluster/registry/peer"
)

// Dialer connects to addresses in the nodes' network.
type Dialer interface {
	DialContext(ctx context.Context, network, address string) (net.Conn, error)
}

// Inside makes sockets in the nodes' network.
type Inside interface {
	Dialer
	Listen(ctx context.Context, address string) (net.Listener, error)
	ListenPacket(ctx context.Context, address string) (net.PacketConn, error)
}

// Options configure a [Proxy].
type Options struct {
	Dialer Dialer
	// Inside listens on the Services' own addresses. If nil, the proxy does not serve those.
	Inside Inside
	// Host makes the proxy listen on this machine's loopback, for NodePorts and for load balancers' addresses in Range.
	Host   bool
	Range  hostaddress.Range
	Server string     // the API server, on this machine's loopback
	Names  netip.Addr // the DNS Service, which the proxy leaves out
	// Outside refuses endpoints outside the nodes' network, except for the API server's. client is nil for a connection
	// of this process. The address [network.Host] stands for this machine's loopback. If nil, no endpoint is refused.
	Outside func(client net.Addr, at netip.AddrPort) error
	// Real reports whether an address is of a real pod or node. If nil, all are.
	Real func(netip.Addr) bool
	Log  *slog.Logger
}

// Proxy forwards connections and packets to Services.
type Proxy struct {
	options  Options
	services corelisters.ServiceLister
	slices   discoverylisters.EndpointSliceLister
	changes  *listeners.Changes
	open     *listeners.Set[key, target]
	group    sync.WaitGroup

	fromPods, fromHost *connlimit.Limit
	flows              *flows
	reported           reported
	maxListeners       int // limit of open listeners
	unserved           func(s *corev1.Service, why string)
}

// key identifies a listener.
type key struct {
	address  string
	protocol corev1.Protocol
	host     bool // on this machine, not in the nodes' network
}

// New returns a proxy that follows Services through the informers of f. The informers must not have started.
func New(f informers.SharedInformerFactory, o Options) (*Proxy, error) {
	conns, packets, most := shares()
	p := &Proxy{
		options: o, services: f.Core().V1().Services().Lister(), slices: f.Discovery().V1().EndpointSlices().Lister(), maxListeners: most,
		fromPods: connlimit.NewLimit(conns, conns/podShare), fromHost: connlimit.NewLimit(conns, conns), flows: newFlows(packets, packets/podShare),
	}
	p.open = listeners.NewSet(p.listen, p.reportShut)
	var err error
	p.changes, err = listeners.Watch(f.Core().V1().Services().Informer(), f.Discovery().V1().EndpointSlices().Informer())
	return p, err
}

// Run serves until ctx ends. It calls ready after its first attempt to open all listeners.
func (p *Proxy) Run(ctx context.Context, ready func()) {
	defer func() {
		p.follow(ctx, nil)
		p.group.Wait()
	}()
	first := sync.OnceFunc(ready)
	p.changes.Run(ctx, func() bool {
		defer first()
		return p.follow(ctx, p.wanted())
	})
}

// wanted returns the listeners to open. A port without endpoints gets none, so that the kernel refuses connections to
// it.
func (p *Proxy) wanted() map[key]target {
	all, err := p.services.List(labels.Everything())
	if err != nil {
		return nil // an informer's lister has no errors
	}
	all = slices.DeleteFunc(slices.Clone(all), func(s *corev1.Service) bool { return !p.mayListenFor(s) })
	wanted := map[key]target{}
	if len(all) == 0 { // saves work: endpoints change often, and on most machines no Service needs the host
		return wanted
	}
	leading, err := p.portsWithListener()
	if err != nil {
		return nil // as above
	}
	for _, s := range all {
		for _, port := range s.Spec.Ports {
			t := targetOf(s, port)
			if served(port.Protocol) && (leading[t.portName] || t.server()) {
				p.want(wanted, s, port, t)
			}
		}
	}
	return wanted
}

// mayListenFor reports whether this proxy may listen for a Service.
func (p *Proxy) mayListenFor(s *corev1.Service) bool {
	return p.options.Inside != nil || s.Spec.Type == corev1.ServiceTypeNodePort || s.Spec.Type == corev1.ServiceTypeLoadBalancer
}

// want adds the listeners of one port.
func (p *Proxy) want(wanted map[key]target, s *corev1.Service, port corev1.ServicePort, t target) {
	if p.options.Inside != nil {
		for _, ip := range s.Spec.ClusterIPs {
			if a, err := netip.ParseAddr(ip); err == nil && a.Is4() && a != p.options.Names {
				wanted[key{portOf(ip, port.Port), port.Protocol, false}] = t
			}
		}
	}
	if !p.options.Host {
		return
	}
	if port.NodePort != 0 {
		wanted[onHost(port)] = t
	}
	for _, at := range p.balancers(s, port) {
		k := key{at, port.Protocol, true}
		if old, ok := wanted[k]; !ok || t.before(old) { // users can write a status, so two Services may claim an address
			wanted[k] = t
		}
	}
}

// follow opens and closes listeners, and reports whether all wanted ones are open.
func (p *Proxy) follow(ctx context.Context, wanted map[key]target) (all bool) {
	all = p.open.Keep(ctx, wanted)
	p.flows.endStale(func(t target) []netip.AddrPort {
		endpoints, _ := p.endpoints(t) // an informer's lister has no errors
		return endpoints
	})
	return all
}

// errFull means that the limit of listeners is reached.
var errFull = errors.New("the Services of this cluster have too many ports")

// reportShut logs a failed listener. errFull, which many listeners have, is logged only once.
func (p *Proxy) reportShut(k key, t target, err error) {
	p.reportNodePort(k, t, err)
	notify := func() {
		p.options.Log.Warn("cannot listen for a Service", "namespace", t.namespace, "service", t.service, "address", k.address, "error", err)
	}
	if errors.Is(err, errFull) {
		p.reported.full.Do(notify)
		return
	}
	notify()
}

// listen serves one listener. The returned function closes it. Above the limit it fails until another listener closes.
func (p *Proxy) listen(ctx context.Context, k key, t target) (func(), error) {
	switch {
	case p.open.Len() >= p.maxListeners:
		return nil, errFull
	case k.protocol == corev1.ProtocolTCP:
		return p.listenTCP(ctx, k, t)
	case k.protocol == corev1.ProtocolUDP:
		return p.listenUDP(ctx, k, t)
	}
	return nil, errProtocol
}

var errProtocol = errors.New("only TCP and UDP are supported")

func served(p corev1.Protocol) bool { return p == corev1.ProtocolTCP || p == corev1.ProtocolUDP }

// dialLimit bounds a connection attempt to one endpoint.
const dialLimit = 5 * time.Second

// dial connects to the first endpoint that accepts, and returns its address. For the API server the address is invalid.
func (p *Proxy) dial(ctx context.Context, protocol string, t target, client net.Addr) (net.Conn, netip.AddrPort, error) {
	if t.server() {
		conn, err := (&net.Dialer{}).DialContext(ctx, protocol, p.options.Server)
		return conn, netip.AddrPort{}, err
	}
	all, err := p.endpoints(t)
	if err != nil {
		return nil, netip.AddrPort{}, err
	}
	for _, at := range order(all, t, client) {
		limited, cancel := context.WithTimeout(ctx, dialLimit)
		var conn net.Conn
		conn, err = p.dialEndpoint(limited, protocol, at, client)
		cancel()
		if err == nil {
			return conn, at, nil
		}
	}
	return nil, netip.AddrPort{}, err
}

// dialEndpoint connects through the nodes' network, or from this machine to an endpoint outside it.
func (p *Proxy) dialEndpoint(ctx context.Context, protocol string, at netip.AddrPort, client net.Addr) (net.Conn, error) {
	if network.Simulated(at.Addr()) {
		return p.options.Dialer.DialContext(ctx, protocol, at.String())
	}
	if p.options.Outside != nil {
		if err := p.options.Outside(client, at); err != nil {
			return nil, err
		}
	}
	if at.Addr() == network.Host {
		at = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), at.Port())
	}
	return (&net.Dialer{Control: peer.OnBehalf}).DialContext(ctx, protocol, at.String())
}
