package node

import (
	"fmt"
	"net/netip"

	"github.com/slipway-dev/slipway/cluster/network"
)

// The range of pods is cut into one /20 for each node.
const (
	podRangeBits = 20
	maxNodes     = 1 << (podRangeBits - 9)
)

// MaxPods is how many pods can have an address of their node's range: all but the network's and the broadcast address.
const MaxPods = 1<<(32-podRangeBits) - 2

// PodRange is the range of the node with that number, from 0 to maxNodes-1.
func PodRange(number int) netip.Prefix {
	return netip.PrefixFrom(Offset(network.Pods.Addr(), number<<(32-podRangeBits)), podRangeBits)
}

// nodeNumber is the inverse of PodRange; false for ranges that are not of this network.
func nodeNumber(podCIDR string) (int, bool) {
	p, err := netip.ParsePrefix(podCIDR)
	if err != nil || p.Bits() != podRangeBits || !network.Pods.Contains(p.Addr()) {
		return 0, false
	}
	return distance(network.Pods.Addr(), p.Addr()) >> (32 - podRangeBits), true
}

// Address is the address of the node with that number.
func Address(number int) netip.Addr {
	return Offset(network.Nodes.Addr(), number+1)
}

// NumberNodes gives every spec a number: the one that its Node already shows, else the lowest free one.
// podCIDRs holds the ranges of the Nodes that exist, by name.
func NumberNodes(specs []Spec, podCIDRs map[string]string) (map[string]int, error) {
	numbers, taken := map[string]int{}, map[int]bool{}
	for name, cidr := range podCIDRs {
		if n, ok := nodeNumber(cidr); ok {
			numbers[name], taken[n] = n, true
		}
	}
	result, next := make(map[string]int, len(specs)), 0
	for _, s := range specs {
		n, ok := numbers[s.Name]
		if !ok {
			for taken[next] {
				next++
			}
			n, taken[next] = next, true
		}
		if n >= maxNodes {
			return nil, fmt.Errorf("%s: no pod range is left", s.Name)
		}
		result[s.Name] = n
	}
	return result, nil
}

// Offset is the address n after base.
func Offset(base netip.Addr, n int) netip.Addr {
	b := base.As4()
	v := uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
	v += uint32(n)
	return netip.AddrFrom4([4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)})
}

func distance(from, to netip.Addr) int {
	f, t := from.As4(), to.As4()
	n := 0
	for i := range f {
		n = n<<8 + int(t[i]) - int(f[i])
	}
	return n
}
