// Package hostaddress chooses where Services and Ingresses answer on this machine: addresses of its loopback, and ports
// that are free there.
//
//	addresses := hostaddress.Of(dir) // 127.x.y.0/24 on Linux
//	at, err := hostaddress.Ports(ctx, ip, wanted, taken, own)
//
// Each cluster has a range of its own, which follows from its folder, so that the addresses of a durable cluster are
// the same after each start. Linux has all of 127.0.0.0/8 without any set-up. Elsewhere 127.0.0.1 is the only address,
// which all clusters and Services share: there only the ports differ.
package hostaddress

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"runtime"
	"strconv"

	corev1 "k8s.io/api/core/v1"
)

// loopback has all addresses of this machine's loopback.
var loopback = netip.MustParsePrefix("127.0.0.0/8")

// Local reports whether an address is of this machine's loopback, in whichever range.
func Local(ip netip.Addr) bool { return loopback.Contains(ip) }

// Range is a range of addresses of this machine's loopback. The zero value has none.
type Range struct{ prefix netip.Prefix }

// first and number say which part of 127.0.0.0/8 the ranges lie in: systems use the beginning for themselves, as
// 127.0.0.53 and 127.0.1.1.
const (
	first  = 64
	number = 64
)

// Of returns the range of the cluster with that folder.
func Of(dir string) Range {
	if runtime.GOOS != "linux" {
		return Range{netip.MustParsePrefix("127.0.0.1/32")}
	}
	sum := sha256.Sum256([]byte(dir))
	const bits = 24
	return Range{netip.PrefixFrom(netip.AddrFrom4([4]byte{127, first + sum[0]%number, sum[1], 0}), bits)}
}

// Empty reports whether the range has no addresses.
func (r Range) Empty() bool { return !r.prefix.IsValid() }

// Contains reports whether an address is in the range.
func (r Range) Contains(ip netip.Addr) bool { return r.prefix.Contains(ip) }

// Shared reports whether Services have to share the range's only address.
func (r Range) Shared() bool { return r.prefix.IsSingleIP() }

// Ingress returns the address of all Ingresses.
func (r Range) Ingress() netip.Addr {
	if r.Shared() {
		return r.prefix.Addr()
	}
	return r.prefix.Addr().Next()
}

// Services returns the addresses that Services can have, the lowest first.
func (r Range) Services() []netip.Addr {
	if r.Shared() {
		return []netip.Addr{r.prefix.Addr()}
	}
	var all []netip.Addr
	for ip := r.Ingress().Next(); r.Contains(ip.Next()); ip = ip.Next() {
		all = append(all, ip)
	}
	return all
}

// Port is a port of a protocol.
type Port struct {
	Protocol corev1.Protocol
	Number   int32
}

// stride is how far a port lies from the one that stands in for it, so that 80 becomes 8080. The same goes on until a
// port is free.
const (
	stride = 8000
	most   = 1<<16 - 1
)

// StandsFor reports whether a port is the wanted one, or one that can stand in for it.
func StandsFor(wanted, port int32) bool {
	return port >= wanted && port <= most && (port-wanted)%stride == 0
}

// ErrNoPort says that neither a port nor any that can stand in for it can be listened to.
var ErrNoPort = errors.New("no free port")

// Ports returns, for each wanted port, where it can be listened for at an address now: at the same port, or at one that
// stands in for it when this process may not listen there or another program does. Taken names ports that others hold
// without listening, own those that are listened to already for the one who asks.
func Ports(ctx context.Context, ip netip.Addr, wanted []Port, taken, own func(Port) bool) ([]int32, error) {
	var chosen []int32
	mine := map[Port]bool{}
	free := func(p Port) bool { return !taken(p) && (own(p) || listenable(ctx, ip, p)) }
	for _, w := range wanted { // those come first that can have what they want, whatever others fall back to
		if free(w) {
			mine[w] = true
		}
	}
	for _, w := range wanted {
		if mine[w] {
			chosen = append(chosen, w.Number)
			continue
		}
		stand, ok := standIn(w, func(p Port) bool { return !mine[p] && free(p) })
		if !ok {
			return nil, fmt.Errorf("%w: %s port %d of %s and those that stand in for it cannot be listened to", ErrNoPort, w.Protocol, w.Number, ip)
		}
		mine[Port{w.Protocol, stand}] = true
		chosen = append(chosen, stand)
	}
	return chosen, nil
}

func standIn(wanted Port, free func(Port) bool) (port int32, ok bool) {
	for n := wanted.Number + stride; n <= most; n += stride {
		if free(Port{wanted.Protocol, n}) {
			return n, true
		}
	}
	return 0, false
}

// listenable reports whether a port can be listened to. Protocols that are never listened to have all ports.
func listenable(ctx context.Context, ip netip.Addr, p Port) bool {
	address := net.JoinHostPort(ip.String(), strconv.Itoa(int(p.Number)))
	var closer interface{ Close() error }
	var err error
	switch p.Protocol {
	case corev1.ProtocolTCP:
		closer, err = (&net.ListenConfig{}).Listen(ctx, "tcp4", address)
	case corev1.ProtocolUDP:
		closer, err = (&net.ListenConfig{}).ListenPacket(ctx, "udp4", address)
	default:
		return true
	}
	if err != nil {
		return false
	}
	return closer.Close() == nil
}
