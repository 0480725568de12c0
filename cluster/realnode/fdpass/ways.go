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

// Ways are the connections that the host makes for a node: to its cluster, and to registries, their token servers and
// their layers' storage. The latter must have public addresses or be named here. So a node that a container has taken
// over reaches no other service of this machine or its network. The address of the connection decides, whatever its
// name was.
type Ways struct {
	Own   []string // host:port on this machine's loopback, by any of its names: the API server and the cluster's registry
	Named []string // host or host:port of registries that the user named; their addresses may be private
	// Route fails for an IPv4 address that this machine's routes lead back to it. If nil, routes are not checked.
	Route func(netip.Addr) error
}

// ErrNotOwn means that a node asked for a connection to an address outside its cluster.
var ErrNotOwn = errors.New("a node has connections to its cluster alone")

// ErrNoWay means that a registry's address is not public, and the user has not named the registry.
var ErrNoWay = errors.New("nodes may not reach addresses of this machine or of private networks, unless the cluster starts with the registry's name")

// dialLimit bounds a connection attempt.
const dialLimit = 30 * time.Second

// dial connects to the API server or the cluster's registry.
func (w Ways) dial(ctx context.Context, network, address string) (net.Conn, error) {
	own := slices.IndexFunc(w.Own, func(o string) bool { return o == address || places.Same(o, address) })
	if own < 0 || network != "tcp" && network != "tcp4" && network != "tcp6" {
		return nil, fmt.Errorf("%w: not to %s %s", ErrNotOwn, network, address)
	}
	dialer := net.Dialer{Timeout: dialLimit, Control: peer.OnBehalf}
	return dialer.DialContext(ctx, network, w.Own[own])
}

// dialRegistry connects to a registry, or to a server that a registry leads to.
func (w Ways) dialRegistry(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: dialLimit, Control: peer.OnBehalf}
	if !w.named(address) {
		dialer.Control = w.controlled(address)
	}
	return dialer.DialContext(ctx, network, address)
}

// named reports whether the user named an address. A name without a port stands for the ports 443 and 80.
func (w Ways) named(address string) bool {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(w.Named, func(named string) bool {
		return strings.EqualFold(named, address) || strings.EqualFold(named, host) && (port == "443" || port == "80")
	})
}

// controlled checks the address when a socket connects to it, because a name can resolve differently each time.
func (w Ways) controlled(wanted string) func(network, address string, _ syscall.RawConn) error {
	return func(network, address string, c syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil || !w.lead(at.Addr().Unmap()) {
			return fmt.Errorf("%w: %s leads to %s (SLIPWAY_REGISTRIES=%s slipway cluster start …)", ErrNoWay, wanted, address, strings.Join(append(slices.Clone(w.Named), wanted), ","))
		}
		return peer.OnBehalf(network, address, c)
	}
}

// lead reports whether a registry that the user has not named may have this address.
func (w Ways) lead(ip netip.Addr) bool {
	return public(ip) && (w.Route == nil || !ip.Is4() || w.Route(ip) == nil)
}

// special are global unicast addresses that are not public: those of providers' and test networks, reserved ones, and
// IPv6 addresses that embed IPv4 ones.
var special = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("168.63.129.16/32"), // Azure's metadata service
	netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("::/96"), netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/48"),
	netip.MustParsePrefix("2001::/32"), netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("fec0::/10"),
}

// public reports whether an address is public, and not one of this machine's.
func public(ip netip.Addr) bool {
	if !ip.IsGlobalUnicast() || ip.IsPrivate() || ip.Zone() != "" {
		return false
	}
	return !slices.ContainsFunc(special, func(p netip.Prefix) bool { return p.Contains(ip) }) && !ofMachine(ip)
}

// ofMachine reports whether an address is one of this machine's. It returns true if they cannot be read.
func ofMachine(ip netip.Addr) bool {
	addresses, err := net.InterfaceAddrs()
	return err != nil || slices.ContainsFunc(addresses, func(a net.Addr) bool {
		p, err := netip.ParsePrefix(a.String())
		return err != nil || p.Addr().Unmap() == ip
	})
}
