package network

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// endpoint is one place at which a Service's port can be had.
type endpoint struct {
	ip   netip.Addr
	port string
	name string // what is there, for people
}

// endpoints are those of a Service's port that are ready, this machine's first.
func (d *Dialer) endpoints(s *corev1.Service, port string) ([]endpoint, error) {
	at := slices.IndexFunc(s.Spec.Ports, func(p corev1.ServicePort) bool { return strconv.Itoa(int(p.Port)) == port })
	if at < 0 {
		return nil, fmt.Errorf("the Service %s/%s has no port %s", s.Namespace, s.Name, port)
	}
	found, err := d.slices.EndpointSlices(s.Namespace).List(labels.SelectorFromSet(labels.Set{discoveryv1.LabelServiceName: s.Name}))
	if err != nil {
		return nil, fmt.Errorf("find the endpoints of Service %s/%s: %w", s.Namespace, s.Name, err)
	}
	var all []endpoint
	for _, slice := range found {
		all = append(all, ready(slice, s.Spec.Ports[at].Name)...)
	}
	local := machine()
	slices.SortStableFunc(all, func(a, b endpoint) int { return rank(a.ip, local) - rank(b.ip, local) })
	return all, nil
}

// ready are a slice's endpoints for the Service port of that name.
func ready(slice *discoveryv1.EndpointSlice, portName string) []endpoint {
	var all []endpoint
	for _, p := range slice.Ports {
		if p.Port == nil || p.Name != nil && *p.Name != portName || p.Name == nil && portName != "" {
			continue
		}
		for _, e := range slice.Endpoints {
			if e.Conditions.Ready != nil && !*e.Conditions.Ready {
				continue
			}
			// Only the first address of an endpoint counts, everywhere in Kubernetes.
			if ip, err := netip.ParseAddr(e.Addresses[0]); err == nil {
				all = append(all, endpoint{ip: ip, port: strconv.Itoa(int(*p.Port)), name: describe(e)})
			}
		}
	}
	return all
}

func describe(e discoveryv1.Endpoint) string {
	if e.TargetRef == nil || e.TargetRef.Kind != "Pod" {
		return e.Addresses[0]
	}
	return "pod " + e.TargetRef.Name + " (" + e.Addresses[0] + ")"
}

// machine lists this machine's addresses, which may change at any time.
func machine() map[netip.Addr]bool {
	local := map[netip.Addr]bool{Host: true}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return local // then their order does not matter
	}
	for _, a := range addresses {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			local[p.Addr()] = true
		}
	}
	return local
}

func rank(ip netip.Addr, local map[netip.Addr]bool) int {
	if local[ip] {
		return 0
	}
	return 1
}

// advice is what helps when a Service leads nowhere.
var advice = fmt.Sprintf("run the program on this machine, and give the Service an EndpointSlice with an address of this machine; "+
	"%s stands for its loopback", Host)

// unreachable says why none of a Service's endpoints can be connected to.
func (d *Dialer) unreachable(ctx context.Context, s *corev1.Service, all []endpoint) error {
	if len(all) == 0 {
		if why := d.missing(ctx, s); why != "" {
			return fmt.Errorf("the Service %s/%s has no ready endpoints: %s; or %s", s.Namespace, s.Name, why, advice)
		}
		return fmt.Errorf("the Service %s/%s has no ready endpoints: %s", s.Namespace, s.Name, advice)
	}
	return fmt.Errorf("the Service %s/%s leads to %s, which is %w, so nothing listens there: %s", s.Namespace, s.Name, all[0].name, ErrSimulated, advice)
}
