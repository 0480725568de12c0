package simnode

import (
	"errors"
	"fmt"
	"net/netip"

	"k8s.io/apimachinery/pkg/types"

	"github.com/slipway-dev/slipway/cluster/node"
)

var errRangeFull = errors.New("no free pod address")

// addresses hands out a node's pod addresses. It moves on through its range before it reuses one, so that a new pod
// does not get what clients of an old one may still remember.
type addresses struct {
	prefix netip.Prefix
	next   int // offset of the address to try next
	owner  map[netip.Addr]types.UID
	of     map[types.UID]netip.Addr
}

func newAddresses(prefix netip.Prefix) *addresses {
	return &addresses{prefix: prefix, next: 1, owner: map[netip.Addr]types.UID{}, of: map[types.UID]netip.Addr{}}
}

// reserve records an address that a pod already has.
func (a *addresses) reserve(uid types.UID, address string) {
	ip, err := netip.ParseAddr(address)
	if err != nil || !a.prefix.Contains(ip) || a.owner[ip] != "" {
		return
	}
	a.owner[ip], a.of[uid] = uid, ip
}

// take returns the pod's address, a new one the first time.
func (a *addresses) take(uid types.UID) (netip.Addr, error) {
	if ip, ok := a.of[uid]; ok {
		return ip, nil
	}
	for range node.MaxPods {
		ip := node.Offset(a.prefix.Addr(), a.next)
		a.next = a.next%node.MaxPods + 1
		if a.owner[ip] == "" {
			a.owner[ip], a.of[uid] = uid, ip
			return ip, nil
		}
	}
	return netip.Addr{}, fmt.Errorf("%w in %s", errRangeFull, a.prefix)
}

func (a *addresses) release(uid types.UID) {
	delete(a.owner, a.of[uid])
	delete(a.of, uid)
}
