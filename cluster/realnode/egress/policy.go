package egress

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
)

// ErrRefused means that pods may not connect to an address.
var ErrRefused = errors.New("pods may not reach this address")

// Policy decides which addresses pods may connect to: IPv4 addresses, except this machine's, the cluster's and special
// ones. Private networks are allowed, because the registries and databases of developers are there.
type Policy struct {
	Cluster []netip.Prefix // the ranges of the cluster's network
	// Machine returns the addresses of this machine's interfaces. If nil, it is [net.InterfaceAddrs].
	Machine func() ([]net.Addr, error)
}

// special are the IPv4 ranges that pods may never connect to, each with its description. Providers of virtual machines
// serve metadata, including the machine's credentials, at some of them.
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

// Check returns nil if pods may connect to ip, else an [ErrRefused] with the reason. It refuses all IPv6 addresses,
// including IPv4-mapped ones: pods have no IPv6.
func (p Policy) Check(ip netip.Addr) error { return p.now()(ip) }

// CheckDial checks an address, as host:port, that a socket is about to connect to, by this machine's routes too.
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

// now returns a Check for several addresses at one moment. It lists this machine's addresses at most once.
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

// checkSpecial refuses addresses that no machine's pods may connect to.
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

// machine lists the addresses anew at each call, because interfaces change.
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
