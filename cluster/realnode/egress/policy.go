package egress

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
)

// ErrRefused says that pods are not connected to an address.
var ErrRefused = errors.New("pods may not reach this address")

// Policy says which addresses pods are connected to: of IPv4, those that are neither this machine's nor the cluster's,
// nor special. Private networks are none of these: registries and databases that developers work with are in them.
type Policy struct {
	Cluster []netip.Prefix // the ranges that the cluster's network has
	// Machine lists the addresses of this machine's interfaces; nil: [net.InterfaceAddrs].
	Machine func() ([]net.Addr, error)
}

// special are the ranges of IPv4 that no pod is connected to, with what they are. Besides those of protocols these are
// the addresses at which providers of virtual machines answer questions about the machine, its credentials included.
var special = []struct {
	netip.Prefix
	what string
}{
	{netip.MustParsePrefix("0.0.0.0/8"), "unspecified"},
	{netip.MustParsePrefix("127.0.0.0/8"), "of this machine's loopback"},
	{netip.MustParsePrefix("169.254.0.0/16"), "link-local"},
	{netip.MustParsePrefix("192.0.0.0/24"), "of protocols, and of a cloud's metadata"},
	{netip.MustParsePrefix("100.100.100.200/32"), "of a cloud's metadata"},
	{netip.MustParsePrefix("168.63.129.16/32"), "of a cloud's metadata"},
	{netip.MustParsePrefix("224.0.0.0/4"), "for multicast"},
	{netip.MustParsePrefix("240.0.0.0/4"), "reserved"},
}

// Check returns nil for an address that pods are connected to, else [ErrRefused] with the reason. Forms of IPv6 are
// refused, those that stand for IPv4 included: pods have no IPv6.
func (p Policy) Check(ip netip.Addr) error { return p.now()(ip) }

// CheckDial is [Policy.Check] for a socket that is about to connect to an address, by this machine's routes too.
func (p Policy) CheckDial(address string) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	if err := p.Check(at.Addr()); err != nil {
		return err
	}
	return CheckRoute(at.Addr())
}

// now is [Policy.Check] for several addresses of one moment. It lists this machine's addresses at most once.
func (p Policy) now() func(netip.Addr) error {
	machine := sync.OnceValues(p.machine)
	return func(ip netip.Addr) error {
		if err := p.checkSpecial(ip); err != nil {
			return err
		}
		own, err := machine()
		if err != nil {
			return fmt.Errorf("%w: cannot read the addresses of this machine: %w", ErrRefused, err)
		}
		if slices.Contains(own, ip) {
			return fmt.Errorf("%w: %s is this machine's", ErrRefused, ip)
		}
		return nil
	}
}

// checkSpecial refuses what is refused on every machine.
func (p Policy) checkSpecial(ip netip.Addr) error {
	if !ip.Is4() {
		return fmt.Errorf("%w: %s is not an IPv4 address", ErrRefused, ip)
	}
	for _, s := range special {
		if s.Contains(ip) {
			return fmt.Errorf("%w: %s is %s", ErrRefused, ip, s.what)
		}
	}
	if slices.ContainsFunc(p.Cluster, func(r netip.Prefix) bool { return r.Contains(ip) }) {
		return fmt.Errorf("%w: %s is in the cluster's own range", ErrRefused, ip)
	}
	return nil
}

// machine lists anew each time: interfaces come and go.
func (p Policy) machine() (own []netip.Addr, err error) {
	list := p.Machine
	if list == nil {
		list = net.InterfaceAddrs
	}
	addresses, err := list()
	if err != nil {
		return nil, err
	}
	for _, a := range addresses {
		at, err := netip.ParsePrefix(a.String())
		if err != nil {
			return nil, err
		}
		own = append(own, at.Addr().Unmap())
	}
	return own, nil
}
