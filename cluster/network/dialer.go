package network

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	discoverylisters "k8s.io/client-go/listers/discovery/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/slipway-dev/slipway/cluster/registry/peer"
)

// ErrSimulated marks a connection to where nothing listens.
var ErrSimulated = errors.New("simulated")

// Kubelets connects to the kubelet of any simulated node.
type Kubelets interface {
	Dial(context.Context) (net.Conn, error)
}

// Inside connects to addresses of real nodes and their pods.
type Inside interface {
	// Has says whether an address is one of theirs.
	Has(netip.Addr) bool
	DialContext(ctx context.Context, network, address string) (net.Conn, error)
}

// Dialer makes the API server's connections into the cluster.
type Dialer struct {
	services cache.Indexer
	slices   discoverylisters.EndpointSliceLister
	kubelets Kubelets
	inside   Inside    // nil where all nodes are simulated for good
	pods     PodLister // nil: refusals name none
	direct   net.Dialer
}

const byAddress = "slipway.dev/cluster-ip"

// NewDialer returns a dialer that knows the cluster from informers, which have not been started yet.
func NewDialer(f informers.SharedInformerFactory, kubelets Kubelets, inside Inside) (*Dialer, error) {
	services := f.Core().V1().Services().Informer()
	if err := services.AddIndexers(cache.Indexers{byAddress: clusterIPs}); err != nil {
		return nil, fmt.Errorf("index Services by address: %w", err)
	}
	return &Dialer{
		services: services.GetIndexer(),
		slices:   f.Discovery().V1().EndpointSlices().Lister(),
		kubelets: kubelets,
		inside:   inside,
		direct:   net.Dialer{Control: peer.OnBehalf}, // on behalf of the user whose request the API server serves
	}, nil
}

func clusterIPs(o any) ([]string, error) {
	if s, ok := o.(*corev1.Service); ok {
		return s.Spec.ClusterIPs, nil
	}
	return nil, nil
}

// Kubelet connects to a node's kubelet.
func (d *Dialer) Kubelet(ctx context.Context, network, address string) (net.Conn, error) {
	ip, port, err := split(address)
	switch {
	case err != nil || !Simulated(ip):
		return d.direct.DialContext(ctx, network, address)
	case !d.within(ip):
		return d.kubelets.Dial(ctx)
	}
	return d.connect(ctx, network, ip, port)
}

// Dial connects to a Service, a pod or anything else that the API server calls.
func (d *Dialer) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	ip, port, err := split(address)
	if err != nil { // a name, as that of an ExternalName
		return d.direct.DialContext(ctx, network, address)
	}
	found, err := d.services.ByIndex(byAddress, ip.String())
	if err != nil {
		return nil, fmt.Errorf("find the Service of %s: %w", ip, err)
	}
	if len(found) > 0 {
		return d.service(ctx, network, found[0].(*corev1.Service), port)
	}
	if !d.reachable(ip) {
		return nil, fmt.Errorf("%s is the address of a %w pod or node, where nothing listens: run the program on this machine and connect to it directly", ip, ErrSimulated)
	}
	return d.connect(ctx, network, ip, port)
}

// reachable tells whether something may listen at an address.
func (d *Dialer) reachable(ip netip.Addr) bool { return !Simulated(ip) || d.within(ip) }

// within tells whether an address is that of a real node or of its pods.
func (d *Dialer) within(ip netip.Addr) bool { return d.inside != nil && d.inside.Has(ip) }

// connect connects to where something may listen.
func (d *Dialer) connect(ctx context.Context, network string, ip netip.Addr, port string) (net.Conn, error) {
	if Simulated(ip) {
		return d.inside.DialContext(ctx, network, net.JoinHostPort(ip.String(), port))
	}
	return d.direct.DialContext(ctx, network, target(ip, port))
}

// service connects to the first endpoint that takes the connection.
func (d *Dialer) service(ctx context.Context, network string, s *corev1.Service, port string) (net.Conn, error) {
	all, err := d.endpoints(s, port)
	if err != nil {
		return nil, err
	}
	reachable := slices.DeleteFunc(slices.Clone(all), func(e endpoint) bool { return !d.reachable(e.ip) })
	if len(reachable) == 0 {
		return nil, d.unreachable(ctx, s, all)
	}
	var errs []error
	for _, e := range reachable {
		conn, err := d.connect(ctx, network, e.ip, e.port)
		if err == nil {
			return conn, nil
		}
		errs = append(errs, err)
	}
	return nil, fmt.Errorf("no endpoint of Service %s/%s takes connections (does the program run, and listen there?): %w",
		s.Namespace, s.Name, errors.Join(errs...))
}

// target is where to connect for an address that is not simulated.
func target(ip netip.Addr, port string) string {
	if ip == Host {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return net.JoinHostPort(ip.String(), port)
}

func split(address string) (ip netip.Addr, port string, err error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return ip, "", err
	}
	ip, err = netip.ParseAddr(host)
	return ip, port, err
}
