package services

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/slipway-dev/slipway/cluster/hostaddress"
)

// balancers returns this machine's addresses of a load balancer's port, from the Service's status. The status lists the
// ports of each address in the order of the Service's.
func (p *Proxy) balancers(s *corev1.Service, port corev1.ServicePort) []string {
	if s.Spec.Type != corev1.ServiceTypeLoadBalancer {
		return nil
	}
	i := slices.IndexFunc(s.Spec.Ports, func(other corev1.ServicePort) bool {
		return other.Port == port.Port && other.Protocol == port.Protocol
	})
	var all []string
	for _, ingress := range s.Status.LoadBalancer.Ingress {
		ip, err := netip.ParseAddr(ingress.IP)
		if err != nil || !slices.Contains(p.options.Range.Services(), ip) || len(ingress.Ports) != len(s.Spec.Ports) {
			continue
		}
		if at := ingress.Ports[i].Port; hostaddress.StandsFor(port.Port, at) {
			all = append(all, portOf(ip.String(), at))
		}
	}
	return all
}

// Address is an address on this machine at which a port of a LoadBalancer Service answers, or should.
type Address struct {
	Namespace, Service string
	Protocol           corev1.Protocol
	Port               int32  // of the Service
	At                 string // host:port
	Problem            error  // why it does not answer; nil if it does
}

// Addresses returns the addresses of all LoadBalancer Services, sorted by namespace, Service and port.
func (p *Proxy) Addresses() []Address {
	services, err := p.services.List(labels.Everything())
	if err != nil {
		return nil // an informer's lister has no errors
	}
	var all []Address
	for _, s := range services {
		for _, port := range s.Spec.Ports {
			for _, at := range p.balancers(s, port) {
				all = append(all, Address{s.Namespace, s.Name, port.Protocol, port.Port, at, p.problem(targetOf(s, port), at)})
			}
		}
	}
	slices.SortFunc(all, func(a, b Address) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Service, b.Service), cmp.Compare(a.Port, b.Port),
			cmp.Compare(a.Protocol, b.Protocol), cmp.Compare(a.At, b.At))
	})
	return all
}

var (
	errNoEndpoints = errors.New("no ready endpoints")
	errSimulated   = errors.New("the pods are simulated, so UDP has no answer")
	errSoon        = errors.New("its endpoints are new")
)

// problem returns why a port does not answer at an address, or nil.
func (p *Proxy) problem(t target, at string) error {
	if !served(t.protocol) {
		return errProtocol
	}
	has, wanted, err := p.open.At(key{at, t.protocol, true})
	switch {
	case wanted && has.portName == t.portName:
		return err
	case wanted:
		return fmt.Errorf("the Service %s/%s has the same address", has.namespace, has.service)
	}
	var nowhere *Unreachable
	switch _, err := p.endpoints(t); {
	case !errors.As(err, &nowhere):
		return cmp.Or(err, errSoon)
	case len(nowhere.Simulated) > 0 && t.protocol == corev1.ProtocolUDP:
		return errSimulated
	}
	return errNoEndpoints
}

// before orders targets by namespace and Service.
func (t target) before(other target) bool {
	return cmp.Or(cmp.Compare(t.namespace, other.namespace), cmp.Compare(t.service, other.service)) < 0
}

// DialService connects to an endpoint of a Service's TCP port, given by the port's name. The error is an [*Unreachable]
// if there is no endpoint. Open connections count against the limit for this machine: a client of HTTP/2 can need
// hundreds.
func (p *Proxy) DialService(ctx context.Context, namespace, service, port string) (net.Conn, error) {
	leave, ok := p.fromHost.Enter(nil)
	if !ok {
		p.reported.reportLimit(p.options.Log, "connections", nil)
		return nil, errTooManyConns
	}
	conn, _, err := p.dial(ctx, "tcp", target{portName: portName{namespace, service, port, corev1.ProtocolTCP}}, nil)
	if err != nil {
		leave()
		return nil, err
	}
	return limitedConn{conn, leave}, nil
}

// errTooManyConns means that the limit of connections is reached.
var errTooManyConns = errors.New("too many connections to Services")

// limitedConn releases its place in a limit when it is closed.
type limitedConn struct {
	net.Conn
	leave func()
}

func (c limitedConn) Close() error {
	c.leave() // leave ignores all but the first call
	return c.Conn.Close()
}
