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

// portName identifies a port of a Service.
type portName struct {
	namespace, service, port string
	protocol                 corev1.Protocol
}

// target is the Service port that a listener forwards to.
type target struct {
	portName
	affinity bool // each client keeps its endpoint (sessionAffinity: ClientIP)
}

func targetOf(s *corev1.Service, port corev1.ServicePort) target {
	return target{portName{s.Namespace, s.Name, port.Name, port.Protocol}, s.Spec.SessionAffinity == corev1.ServiceAffinityClientIP}
}

// server reports whether the port is the API server's, whose endpoint the proxy replaces by Options.Server.
func (p portName) server() bool {
	return p.namespace == corev1.NamespaceDefault && p.service == "kubernetes"
}

// portsWithListener returns true for each port that needs a listener: it has a real endpoint or, over TCP, a simulated
// one. For the latter a page explains why nothing answers.
func (p *Proxy) portsWithListener() (map[portName]bool, error) {
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
				return stateOf(e) != notServing && (kind == real || kind == simulated && protocol == corev1.ProtocolTCP)
			})
		}
	}
	return found, nil
}

// endpoints returns the endpoints to try, in no order. Without any the error is an [*Unreachable].
func (p *Proxy) endpoints(t target) ([]netip.AddrPort, error) {
	found, err := p.slices.EndpointSlices(t.namespace).List(labels.SelectorFromSet(labels.Set{discoveryv1.LabelServiceName: t.service}))
	if err != nil {
		return nil, err
	}
	var all [notServing + 1][]netip.AddrPort
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
				case kind == simulated && stateOf(e) != notServing:
					nowhere.Simulated = append(nowhere.Simulated, podOf(e, ip))
				}
			}
		}
	}
	switch {
	case len(all[ready]) > 0:
		return all[ready], nil
	case len(all[terminating]) > 0:
		return all[terminating], nil
	}
	return nil, nowhere
}

type state int

const (
	ready       state = iota
	terminating       // used while no endpoint is ready
	notServing
)

func stateOf(e discoveryv1.Endpoint) state {
	switch c := e.Conditions; {
	case c.Ready == nil || *c.Ready:
		return ready
	case c.Serving != nil && *c.Serving:
		return terminating
	}
	return notServing
}

// kind says whether an endpoint can be connected to.
type kind int

const (
	none      kind = iota // no usable address
	simulated             // a simulated pod, where nothing listens
	real
)

// reachable returns an endpoint's first address and its kind.
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

// podOf returns the name of an endpoint's pod, or the address if the endpoint has none.
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

// order returns the endpoints in the order of attempts for a client: random, unless the client keeps its endpoint.
func order(all []netip.AddrPort, t target, client net.Addr) []netip.AddrPort {
	if t.affinity {
		slices.SortFunc(all, netip.AddrPort.Compare) // the slices come in no order
		rotate(all, hash(client))
		return all
	}
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// rotate swaps the endpoint that number selects to the front. The same number selects the same endpoint while the
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

func portOf(ip string, port int32) string { return net.JoinHostPort(ip, strconv.Itoa(int(port))) }
