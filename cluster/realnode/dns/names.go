package dns

import (
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/labels"
	corelisters "k8s.io/client-go/listers/core/v1"
	discoverylisters "k8s.io/client-go/listers/discovery/v1"
)

// names resolves names of the cluster.
type names struct {
	domain   string // without leading or trailing dots
	services corelisters.ServiceLister
	slices   discoverylisters.EndpointSliceLister
}

// answer is the result of a lookup. A name can exist without records.
type answer struct {
	exists    bool
	addresses []netip.Addr
	alias     string
	servers   []server
}

// server is the content of an SRV record.
type server struct {
	name string
	port uint16
	ip   netip.Addr
}

// lookup resolves a name of the cluster, with or without the final dot.
func (n names) lookup(name string) answer {
	rest, ok := strings.CutSuffix(strings.TrimSuffix(strings.ToLower(name), "."), "."+n.domain)
	if !ok {
		return answer{}
	}
	parts := strings.Split(rest, ".")
	kind := parts[len(parts)-1]
	parts = parts[:len(parts)-1]
	switch {
	case kind == "pod" && len(parts) == 2:
		return podAddress(parts[0])
	case kind != "svc" || len(parts) < 2:
		return answer{}
	}
	namespace, service, below := parts[len(parts)-1], parts[len(parts)-2], parts[:len(parts)-2]
	s, err := n.services.Services(namespace).Get(service)
	if err != nil {
		return answer{}
	}
	switch {
	case len(below) == 2 && strings.HasPrefix(below[0], "_") && strings.HasPrefix(below[1], "_"):
		return n.port(s, below[0][1:], below[1][1:])
	case len(below) > 1:
		return answer{}
	case s.Spec.Type == corev1.ServiceTypeExternalName:
		return answer{exists: len(below) == 0, alias: s.Spec.ExternalName}
	case s.Spec.ClusterIP == corev1.ClusterIPNone:
		return n.headless(s, strings.Join(below, ""))
	case len(below) == 0:
		return clusterAddress(s)
	}
	return answer{}
}

// podAddress parses the first label of a pod's name, such as 10-128-0-1 or fd00--1.
func podAddress(label string) answer {
	separator := ":"
	if strings.Count(label, "-") == 3 && !strings.Contains(label, "--") {
		separator = "."
	}
	ip, ok := parse(strings.ReplaceAll(label, "-", separator))
	if !ok {
		return answer{}
	}
	return answer{exists: true, addresses: []netip.Addr{ip}}
}

// parse parses an address for a record. It refuses IPv6 zones, which have a meaning on one machine only.
func parse(text string) (netip.Addr, bool) {
	ip, err := netip.ParseAddr(text)
	return ip.Unmap(), err == nil && ip.Zone() == ""
}

func clusterAddress(s *corev1.Service) answer {
	ip, ok := parse(s.Spec.ClusterIP)
	if !ok {
		return answer{exists: true}
	}
	return answer{exists: true, addresses: []netip.Addr{ip}}
}

// headless returns the addresses of a headless Service's pods, or of the pod with that hostname.
func (n names) headless(s *corev1.Service, hostname string) answer {
	a := answer{exists: hostname == ""}
	n.each(s, func(e discoveryv1.Endpoint, ip netip.Addr, _ *discoveryv1.EndpointSlice) {
		if hostname == "" || hostname == hostOf(e, ip) {
			a.exists = true
			if !slices.Contains(a.addresses, ip) {
				a.addresses = append(a.addresses, ip)
			}
		}
	})
	return a
}

// each calls f with each ready endpoint of a Service.
func (n names) each(s *corev1.Service, f func(discoveryv1.Endpoint, netip.Addr, *discoveryv1.EndpointSlice)) {
	found, err := n.slices.EndpointSlices(s.Namespace).List(labels.SelectorFromSet(labels.Set{discoveryv1.LabelServiceName: s.Name}))
	if err != nil {
		return // an informer's lister has no errors
	}
	for _, slice := range found {
		for _, e := range slice.Endpoints {
			if e.Conditions.Ready != nil && !*e.Conditions.Ready {
				continue
			}
			if len(e.Addresses) == 0 {
				continue
			}
			if ip, ok := parse(e.Addresses[0]); ok {
				f(e, ip, slice)
			}
		}
	}
}

// hostOf returns the label of an endpoint's name below its Service.
func hostOf(e discoveryv1.Endpoint, ip netip.Addr) string {
	if e.Hostname != nil {
		return *e.Hostname
	}
	label := strings.NewReplacer(".", "-", ":", "-").Replace(ip.String())
	if strings.HasSuffix(label, "-") {
		return label + "0" // a label must not end with a dash
	}
	return label
}

// port returns the SRV records of a Service's named port.
func (n names) port(s *corev1.Service, port, protocol string) answer {
	at := slices.IndexFunc(s.Spec.Ports, func(p corev1.ServicePort) bool {
		return strings.EqualFold(p.Name, port) && strings.EqualFold(string(p.Protocol), protocol)
	})
	if at < 0 {
		return answer{}
	}
	domain := s.Name + "." + s.Namespace + ".svc." + n.domain
	if s.Spec.ClusterIP != corev1.ClusterIPNone {
		a := clusterAddress(s)
		for _, ip := range a.addresses {
			a.servers = append(a.servers, server{domain, uint16(s.Spec.Ports[at].Port), ip})
		}
		a.addresses = nil
		return a
	}
	a := answer{exists: true}
	n.each(s, func(e discoveryv1.Endpoint, ip netip.Addr, slice *discoveryv1.EndpointSlice) {
		for _, p := range slice.Ports {
			if p.Port != nil && p.Name != nil && strings.EqualFold(*p.Name, port) {
				a.servers = append(a.servers, server{hostOf(e, ip) + "." + domain, uint16(*p.Port), ip})
			}
		}
	})
	return a
}

// reverse returns the name of the Service with this address, or "".
func (n names) reverse(ip netip.Addr) string {
	all, err := n.services.List(labels.Everything())
	if err != nil {
		return ""
	}
	for _, s := range all {
		if slices.Contains(s.Spec.ClusterIPs, ip.String()) {
			return s.Name + "." + s.Namespace + ".svc." + n.domain
		}
	}
	return ""
}
