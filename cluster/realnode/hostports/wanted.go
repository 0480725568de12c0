package hostports

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// target is the target of a port of this machine.
type target struct {
	pod types.UID
	to  netip.AddrPort // the pod's port in the nodes' network
}

type refusal struct {
	pod *corev1.Pod
	why string
}

// mostPorts bounds the host ports of a cluster. Each takes an open file of the process, which also runs the API server.
const mostPorts = 256

// wanted returns the ports to open, and the refused ones. If two pods want a port, the older pod gets it. plain means
// that pods listen on this machine by themselves.
func wanted(pods []*corev1.Pod, plain bool) (ports map[netip.AddrPort]target, refused []refusal) {
	pods = slices.SortedFunc(slices.Values(pods), func(a, b *corev1.Pod) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.UID, b.UID))
	})
	ports = map[netip.AddrPort]target{}
	holders := map[netip.AddrPort]*corev1.Pod{}
	for _, pod := range pods {
		to, err := netip.ParseAddr(pod.Status.PodIP)
		if err != nil || pod.Status.Phase != corev1.PodRunning || pod.Spec.HostNetwork {
			continue
		}
		for _, p := range portsOf(pod) {
			if plain && p.HostPort == p.ContainerPort {
				continue // the container listens on it already
			}
			at, err := listenAddress(p)
			if err != nil {
				refused = append(refused, refusal{pod, err.Error()})
				continue
			}
			if first, ok := holders[at]; ok {
				refused = append(refused, refusal{pod, fmt.Sprintf("host port %s already belongs to pod %s/%s", at, first.Namespace, first.Name)})
				continue
			}
			if len(ports) == mostPorts {
				refused = append(refused, refusal{pod, fmt.Sprintf("host port %s is not served: a cluster has at most %d", at, mostPorts)})
				continue
			}
			holders[at], ports[at] = pod, target{pod.UID, netip.AddrPortFrom(to, uint16(p.ContainerPort))}
		}
	}
	return ports, refused
}

// portsOf returns the host ports of a pod's containers, including sidecars.
func portsOf(pod *corev1.Pod) (ports []corev1.ContainerPort) {
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for _, c := range containers {
			ports = append(ports, c.Ports...)
		}
	}
	return slices.DeleteFunc(ports, func(p corev1.ContainerPort) bool { return p.HostPort == 0 })
}

// listenAddress returns the address to serve a host port at. It is always a loopback address: no pod can open a port to
// the network.
func listenAddress(p corev1.ContainerPort) (netip.AddrPort, error) {
	if p.Protocol != "" && p.Protocol != corev1.ProtocolTCP {
		return netip.AddrPort{}, fmt.Errorf("host port %d is not served: only TCP is supported, not %s; a NodePort serves UDP", p.HostPort, p.Protocol)
	}
	at := netip.AddrFrom4([4]byte{127, 0, 0, 1})
	if p.HostIP != "" && p.HostIP != "0.0.0.0" && p.HostIP != "::" {
		ip, err := netip.ParseAddr(p.HostIP)
		if err != nil || !ip.IsLoopback() || !ip.Is4() {
			return netip.AddrPort{}, fmt.Errorf("host port %d is not served on hostIP %s: use an address of 127.0.0.0/8, or leave it out", p.HostPort, p.HostIP)
		}
		at = ip
	}
	place := netip.AddrPortFrom(at, uint16(p.HostPort))
	if balancerRange.Contains(at) || place == registry {
		return netip.AddrPort{}, fmt.Errorf("host port %s is not served: it is reserved for Services and registries of clusters", place)
	}
	return place, nil
}

// Ports that no pod may get, because pods are untrusted. In othersRange users reach the load balancers of all clusters
// (package hostaddress). At registry they push images with their credentials, and the port may be free.
var (
	balancerRange = netip.MustParsePrefix("127.64.0.0/10")
	registry      = netip.MustParseAddrPort("127.0.0.1:5001")
)
