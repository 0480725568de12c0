package services

import (
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/slipway-dev/slipway/cluster/connlimit"
	"github.com/slipway-dev/slipway/cluster/network"
)

// portName names a port of a Service.
type portName struct {
	namespace, service, port string
	protocol                 corev1.Protocol
}

// target is where what arrives at a listener leads.
type target struct {
	portName
	affinity bool // a client stays with an endpoint
}

func targetOf(s *corev1.Service, port corev1.ServicePort) target {
	return target{portName{s.Namespace, s.Name, port.Name, port.Protocol}, s.Spec.SessionAffinity == corev1.ServiceAffinityClientIP}
}

// server says whether a port is the API server's, which has no endpoints that could be reached from here.
func (p portName) server() bool {
	return p.namespace == corev1.NamespaceDefault && p.service == "kubernetes"
}

// leading are the ports that lead somewhere now: to a program or, over TCP, to a page that says why there is none.
func (p *Proxy) leading() (map[portName]bool, error) {
	all, err := p.slices.List(labels.Everything())
	if err != nil {
		return nil, err
	}
	found := map[portName]bool{}
	for _, slice := range all {
		for _, port := range slice.Ports {
			name, protocol := nameOf(port)
			at := portName{slice.Namespace, slice.Labels[discoveryv1.LabelServiceName], name, protocol}
			if found[at] || port.Port == nil {
				continue
			}
			found[at] = slices.ContainsFunc(slice.Endpoints, func(e discoveryv1.Endpoint) bool {
				_, kind := p.reachable(e)
				return stateOf(e) != gone && (kind == real || kind == simulated && protocol == corev1.ProtocolTCP)
			})
		}
	}
	return found, nil
}

// endpoints are where connections to a port may go, in no order. Without any, err is a [*Unreachable].
func (p *Proxy) endpoints(t target) ([]netip.AddrPort, error) {
	found, err := p.slices.EndpointSlices(t.namespace).List(labels.SelectorFromSet(labels.Set{discoveryv1.LabelServiceName: t.service}))
	if err != nil {
		return nil, err
	}
	var all [gone + 1][]netip.AddrPort
	nowhere := &Unreachable{Namespace: t.namespace, Service: t.service}
	for _, slice := range found {
		for _, port := range slice.Ports {
			if name, protocol := nameOf(port); port.Port == nil || name != t.port || protocol != t.protocol {
				continue
			}
			for _, e := range slice.Endpoints {
				switch ip, kind := p.reachable(e); {
				case kind == real:
					all[stateOf(e)] = append(all[stateOf(e)], netip.AddrPortFrom(ip, uint16(*port.Port)))
				case kind == simulated && stateOf(e) != gone:
					nowhere.Simulated = append(nowhere.Simulated, podOf(e, ip))
				}
			}
		}
	}
	switch {
	case len(all[ready]) > 0:
		return all[ready], nil
	case len(all[leaving]) > 0:
		return all[leaving], nil
	}
	return nil, nowhere
}

// state is that of an endpoint.
type state int

const (
	ready   state = iota
	leaving       // better than nothing while all are going
	gone
)

func stateOf(e discoveryv1.Endpoint) state {
	switch c := e.Conditions; {
	case c.Ready == nil || *c.Ready:
		return ready
	case c.Serving != nil && *c.Serving:
		return leaving
	}
	return gone
}

// kind is that of what an endpoint leads to.
type kind int

const (
	none      kind = iota // nothing that can be connected to
	simulated             // a pod where nothing listens
	real
)

// reachable is an endpoint's address, and what is there.
func (p *Proxy) reachable(e discoveryv1.Endpoint) (netip.Addr, kind) {
	if len(e.Addresses) == 0 {
		return netip.Addr{}, none
	}
	ip, err := netip.ParseAddr(e.Addresses[0])
	if err != nil {
		return netip.Addr{}, none
	}
	if network.Simulated(ip) && p.options.Real != nil && !p.options.Real(ip) {
		return ip, simulated
	}
	return ip, real
}

// podOf is the name of the pod that an endpoint is, or else its address.
func podOf(e discoveryv1.Endpoint, ip netip.Addr) string {
	if e.TargetRef == nil || e.TargetRef.Kind != "Pod" {
		return ip.String()
	}
	return e.TargetRef.Name
}

func nameOf(p discoveryv1.EndpointPort) (string, corev1.Protocol) {
	name, protocol := "", corev1.ProtocolTCP
	if p.Name != nil {
		name = *p.Name
	}
	if p.Protocol != nil {
		protocol = *p.Protocol
	}
	return name, protocol
}

// order is the order in which endpoints are tried for a client.
func order(all []netip.AddrPort, t target, client net.Addr) []netip.AddrPort {
	if t.affinity {
		slices.SortFunc(all, netip.AddrPort.Compare) // several slices come in any order
		rotate(all, hash(client))
		return all
	}
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// rotate begins with the endpoint whose turn it is by a number; the same number gives the same one as long as the
// endpoints stay.
func rotate(all []netip.AddrPort, number uint32) {
	if len(all) == 0 {
		return
	}
	first := int(number % uint32(len(all)))
	all[0], all[first] = all[first], all[0]
}

func hash(client net.Addr) uint32 {
	sum := uint32(2166136261)
	for _, b := range connlimit.Host(client).AsSlice() {
		sum = (sum ^ uint32(b)) * 16777619
	}
	return sum
}

// portOf is the address of a port.
func portOf(ip string, port int32) string { return net.JoinHostPort(ip, strconv.Itoa(int(port))) }
