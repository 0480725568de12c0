package fdpass

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/slipway-dev/slipway/cluster/registry/peer"
	"github.com/slipway-dev/slipway/cluster/registry/places"
)

// Ways are the ways that the host lets a node have: connections to its cluster, and requests of what a pull asks for to
// registries, to those that give tokens for them, and to those that store their layers. These are at public addresses,
// or named here. A node that is in wrong hands has no connection to any of them, and reaches no service of this machine
// or of the network that it is in. The address that is connected to counts, whatever name leads to it.
type Ways struct {
	Own   []string // host:port on this machine's loopback, by whatever name of that: the API server and the cluster's registry
	Named []string // host or host:port of registries that the user has named
	// Route fails for an address of IPv4 that this machine's routes lead to itself; nil: none are looked at.
	Route func(netip.Addr) error
}

// ErrNotOwn says that a node is not let connect to what is not its cluster's.
var ErrNotOwn = errors.New("a node has connections to its cluster alone")

// ErrNoWay says that no registry may be asked where a node wants to.
var ErrNoWay = errors.New("nodes may not reach addresses of this machine or of private networks, unless the cluster starts with the registry's name")

// dialLimit bounds one connection's way.
const dialLimit = 30 * time.Second

// dial connects to what is the cluster's.
func (w Ways) dial(ctx context.Context, network, address string) (net.Conn, error) {
	own := slices.IndexFunc(w.Own, func(o string) bool { return o == address || places.Same(o, address) })
	if own < 0 || network != "tcp" && network != "tcp4" && network != "tcp6" {
		return nil, fmt.Errorf("%w: not to %s %s", ErrNotOwn, network, address)
	}
	dialer := net.Dialer{Timeout: dialLimit, Control: peer.OnBehalf}
	return dialer.DialContext(ctx, network, w.Own[own])
}

// dialRegistry connects to where a registry may be.
func (w Ways) dialRegistry(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: dialLimit, Control: peer.OnBehalf}
	if !w.named(address) {
		dialer.Control = w.controlled(address)
	}
	return dialer.DialContext(ctx, network, address)
}

// named says whether the user has named an address. A name without a port is for those that registries have by default.
func (w Ways) named(address string) bool {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(w.Named, func(named string) bool {
		return strings.EqualFold(named, address) || strings.EqualFold(named, host) && (port == "443" || port == "80")
	})
}

// controlled looks at the address that a name led to, when it is connected to: a name may lead elsewhere each time.
func (w Ways) controlled(wanted string) func(network, address string, _ syscall.RawConn) error {
	return func(network, address string, c syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil || !w.lead(at.Addr().Unmap()) {
			return fmt.Errorf("%w: %s leads to %s (SLIPWAY_REGISTRIES=%s slipway cluster start …)", ErrNoWay, wanted, address, strings.Join(append(slices.Clone(w.Named), wanted), ","))
		}
		return peer.OnBehalf(network, address, c)
	}
}

// lead says whether a registry may be asked at an address that the user has not named.
func (w Ways) lead(ip netip.Addr) bool {
	return public(ip) && (w.Route == nil || !ip.Is4() || w.Route(ip) == nil)
}

// special are addresses that look public and are not: of providers' and test networks, reserved ones, and those of IPv6
// that stand for addresses of IPv4.
var special = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("168.63.129.16/32"), // Azure answers questions about the machine there
	netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("::/96"), netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/48"),
	netip.MustParsePrefix("2001::/32"), netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("fec0::/10"),
}

// public says whether an address is neither of this machine nor of a network that not everybody has.
func public(ip netip.Addr) bool {
	if !ip.IsGlobalUnicast() || ip.IsPrivate() || ip.Zone() != "" {
		return false
	}
	return !slices.ContainsFunc(special, func(p netip.Prefix) bool { return p.Contains(ip) }) && !ofMachine(ip)
}

// ofMachine says whether an address is one of this machine's, or may be: they come and go.
func ofMachine(ip netip.Addr) bool {
	addresses, err := net.InterfaceAddrs()
	return err != nil || slices.ContainsFunc(addresses, func(a net.Addr) bool {
		p, err := netip.ParsePrefix(a.String())
		return err != nil || p.Addr().Unmap() == ip
	})
}
