package services

import (
	"context"
	"errors"
	"fmt"
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
	"k8s.io/client-go/tools/cache"

	"github.com/slipway-dev/slipway/cluster/hostaddress"
	"github.com/slipway-dev/slipway/cluster/intake"
	"github.com/slipway-dev/slipway/cluster/network"
	"github.com/slipway-dev/slipway/cluster/registry/peer"
)

// Dialer connects to addresses of the nodes' network.
type Dialer interface {
	DialContext(ctx context.Context, network, address string) (net.Conn, error)
}

// Inside makes sockets in the network of the nodes.
type Inside interface {
	Dialer
	Listen(ctx context.Context, address string) (net.Listener, error)
	ListenPacket(ctx context.Context, address string) (net.PacketConn, error)
}

// Options say between whom to pass connections on.
type Options struct {
	Dialer Dialer
	// Inside is where the Services' own addresses are listened to; nil leaves them out.
	Inside Inside
	// Host listens to NodePorts and to the addresses of load balancers in Range on this machine's loopback.
	Host   bool
	Range  hostaddress.Range
	Server string     // the API server, on this machine's loopback
	Names  netip.Addr // the Service for names, which is served already
	// Real tells which addresses of pods and nodes are real ones'; all of them if it is nil.
	Real func(netip.Addr) bool
	Log  *slog.Logger
}

// Proxy passes connections to Services on.
type Proxy struct {
	options  Options
	services corelisters.ServiceLister
	slices   discoverylisters.EndpointSliceLister
	synced   []cache.InformerSynced
	changed  chan struct{}
	group    sync.WaitGroup

	fromPods, fromHost *intake.Limit
	flows              *flows
	told               told
	most               int // of listeners at a time

	mu   sync.Mutex
	open map[key]closer // Run alone changes it
	shut map[key]error  // what could not be listened for, and was told; Run alone changes it
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
	conns, packets, listeners := shares()
	p := &Proxy{
		options: o, services: f.Core().V1().Services().Lister(), slices: f.Discovery().V1().EndpointSlices().Lister(),
		changed: make(chan struct{}, 1), open: map[key]closer{}, shut: map[key]error{}, most: listeners,
		fromPods: intake.NewLimit(conns, conns/ofOne), fromHost: intake.NewLimit(conns, conns), flows: newFlows(packets, packets/ofOne),
	}
	for _, informer := range []cache.SharedIndexInformer{f.Core().V1().Services().Informer(), f.Discovery().V1().EndpointSlices().Informer()} {
		registration, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: func(any) { p.notice() }, UpdateFunc: func(any, any) { p.notice() }, DeleteFunc: func(any) { p.notice() },
		})
		if err != nil {
			return nil, fmt.Errorf("follow Services: %w", err)
		}
		p.synced = append(p.synced, registration.HasSynced)
	}
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

// wanted are the listeners that there should be: none for a port that leads nowhere, so that connections to it are
// refused as they are elsewhere.
func (p *Proxy) wanted() map[key]target {
	all, err := p.services.List(labels.Everything())
	if err != nil {
		return nil // an informer's lister has no errors
	}
	all = slices.DeleteFunc(slices.Clone(all), func(s *corev1.Service) bool { return !p.concerns(s) })
	wanted := map[key]target{}
	if len(all) == 0 { // endpoints change often, and in most clusters no Service is for this machine
		return wanted
	}
	leading, err := p.leading()
	if err != nil {
		return nil // as above
	}
	for _, s := range all {
		for _, port := range s.Spec.Ports {
			t := target{portName{s.Namespace, s.Name, port.Name, port.Protocol}, s.Spec.SessionAffinity == corev1.ServiceAffinityClientIP}
			if leading[t.portName] || t.server() {
				p.want(wanted, s, port, t)
			}
		}
	}
	return wanted
}

// concerns says whether there may be a listener for a Service.
func (p *Proxy) concerns(s *corev1.Service) bool {
	return p.options.Inside != nil || s.Spec.Type == corev1.ServiceTypeNodePort || s.Spec.Type == corev1.ServiceTypeLoadBalancer
}

// want adds the listeners for one port.
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
		wanted[key{portOf("127.0.0.1", port.NodePort), port.Protocol, true}] = t
	}
	for _, at := range p.balancers(s, port) {
		k := key{at, port.Protocol, true}
		if old, ok := wanted[k]; !ok || t.before(old) { // a status may be written by hand
			wanted[k] = t
		}
	}
}

// follow opens and closes listeners, and says whether all that are wanted are there.
func (p *Proxy) follow(ctx context.Context, wanted map[key]target) (all bool) {
	for k, c := range p.open {
		if wanted[k] != c.target {
			c.close()
			p.set(k, nil, nil)
		}
	}
	p.flows.endStale(func(t target) []netip.AddrPort {
		endpoints, _ := p.endpoints(t) // an informer's lister has no errors
		return endpoints
	})
	all = true
	for k, t := range wanted {
		if _, ok := p.open[k]; ok {
			continue
		}
		if len(p.open) >= p.most { // those that are open stay; a Service that goes leaves room for others
			p.full(k)
			continue
		}
		closeIt, err := p.listen(ctx, k, t)
		if err != nil {
			p.tellShut(k, t, err)
			all = false
			continue
		}
		p.set(k, &closer{t, closeIt}, nil)
	}
	return all
}

// tellShut tells once of a listener that is tried again and again.
func (p *Proxy) tellShut(k key, t target, err error) {
	if p.shut[k] == nil {
		p.options.Log.Warn("cannot listen for a Service", "namespace", t.namespace, "service", t.service, "address", k.address, "error", err)
	}
	p.set(k, nil, err)
}

// errFull says that Services have more ports than are listened for.
var errFull = errors.New("the Services of this cluster have more ports than it can listen for")

// full notes that there is no room for a listener, which is told once.
func (p *Proxy) full(k key) {
	p.told.full.Do(func() {
		p.options.Log.Warn("cannot listen for all Services, which is told once", "address", k.address, "limit", p.most, "error", errFull)
	})
	p.set(k, nil, errFull)
}

// set notes what became of a listener: it is open, cannot be, or is not wanted.
func (p *Proxy) set(k key, open *closer, shut error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, k)
	delete(p.shut, k)
	if open != nil {
		p.open[k] = *open
	}
	if shut != nil {
		p.shut[k] = shut
	}
}

// listen passes on what comes to an address, until the function that it returns is called.
func (p *Proxy) listen(ctx context.Context, k key, t target) (func(), error) {
	switch k.protocol {
	case corev1.ProtocolTCP:
		return p.listenTCP(ctx, k, t)
	case corev1.ProtocolUDP:
		return p.listenUDP(ctx, k, t)
	}
	return func() {}, nil // nobody would know what to do with it
}

// dialLimit bounds the way to one endpoint.
const dialLimit = 5 * time.Second

// dial connects to the first endpoint that takes the connection, and returns which. That of the API server has no
// address here.
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
		conn, err = p.dialEndpoint(limited, protocol, at)
		cancel()
		if err == nil {
			return conn, at, nil
		}
	}
	return nil, netip.AddrPort{}, err
}

// dialEndpoint connects in the nodes' network, or from this machine to what is not in there.
func (p *Proxy) dialEndpoint(ctx context.Context, protocol string, at netip.AddrPort) (net.Conn, error) {
	switch {
	case at.Addr() == network.Host:
		return (&net.Dialer{Control: peer.OnBehalf}).DialContext(ctx, protocol, netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), at.Port()).String())
	case network.Simulated(at.Addr()):
		return p.options.Dialer.DialContext(ctx, protocol, at.String())
	}
	return (&net.Dialer{Control: peer.OnBehalf}).DialContext(ctx, protocol, at.String())
}
