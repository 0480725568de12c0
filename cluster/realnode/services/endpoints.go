package services

import (
	"math/rand/v2"
	"net"
	"net/netip"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/labels"
	discoverylisters "k8s.io/client-go/listers/discovery/v1"
)

// target names a port of a Service.
type target struct {
	namespace, service, port string
	protocol                 corev1.Protocol
	affinity                 bool // a client stays with an endpoint
}

// endpoints are where connections to a port may go, in no order.
func endpoints(slices discoverylisters.EndpointSliceLister, t target) ([]netip.AddrPort, error) {
	found, err := slices.EndpointSlices(t.namespace).List(labels.SelectorFromSet(labels.Set{discoveryv1.LabelServiceName: t.service}))
	if err != nil {
		return nil, err
	}
	var ready, leaving []netip.AddrPort
	for _, slice := range found {
		for _, p := range slice.Ports {
			if p.Port == nil || !samePort(p, t) {
				continue
			}
			for _, e := range slice.Endpoints {
				ip, err := netip.ParseAddr(e.Addresses[0])
				if err != nil {
					continue
				}
				at := netip.AddrPortFrom(ip, uint16(*p.Port))
				switch c := e.Conditions; {
				case c.Ready == nil || *c.Ready:
					ready = append(ready, at)
				case c.Serving != nil && *c.Serving: // better than nothing while all are going
					leaving = append(leaving, at)
				}
			}
		}
	}
	if len(ready) == 0 {
		return leaving, nil
	}
	return ready, nil
}

func samePort(p discoveryv1.EndpointPort, t target) bool {
	name, protocol := "", corev1.ProtocolTCP
	if p.Name != nil {
		name = *p.Name
	}
	if p.Protocol != nil {
		protocol = *p.Protocol
	}
	return name == t.port && protocol == t.protocol
}

// order is the order in which endpoints are tried for a client.
func order(all []netip.AddrPort, t target, client net.Addr) []netip.AddrPort {
	if t.affinity {
		rotate(all, hash(client))
		return all
	}
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// rotate begins with the endpoint whose turn it is by a number; the same number gives the same one as long as the endpoints stay.
func rotate(all []netip.AddrPort, number uint32) {
	if len(all) == 0 {
		return
	}
	first := int(number % uint32(len(all)))
	all[0], all[first] = all[first], all[0]
}

func hash(client net.Addr) uint32 {
	host, _, err := net.SplitHostPort(client.String())
	if err != nil {
		return 0
	}
	sum := uint32(2166136261)
	for _, b := range []byte(host) {
		sum = (sum ^ uint32(b)) * 16777619
	}
	return sum
}

// portOf is the address of a port.
func portOf(ip string, port int32) string { return net.JoinHostPort(ip, strconv.Itoa(int(port))) }
