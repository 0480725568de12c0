package podnet

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"sync"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// Config is a node's place in the cluster's network.
type Config struct {
	Machine  *os.File     // the machine's network namespace
	Address  netip.Addr   // of the node
	Pods     netip.Prefix // the range of its pods
	Services netip.Prefix // the cluster's range of Services
	Host     netip.Addr   // the machine's address, which stands for the host
	Number   int          // unique in the cluster: it names the node's interface in the machine
}

// gateway is the machine's address on its end of each pair. All pairs have the same one.
var gateway = netip.MustParseAddr("169.254.1.1")

// Network is the network of a node.
type Network struct {
	bridge  *netlink.Bridge
	pods    netip.Prefix
	gateway netip.Addr // the node's address on the bridge

	mu   sync.Mutex
	used map[netip.Addr]bool
	last netip.Addr // the latest address that take returned
}

// Setup sets the network up. It must run in the node's network namespace.
func Setup(c Config) (*Network, error) {
	machine, err := netlink.NewHandleAt(netns.NsHandle(c.Machine.Fd()), unix.NETLINK_ROUTE)
	if err != nil {
		return nil, fmt.Errorf("reach the machine's network: %w", err)
	}
	defer machine.Close()
	here, err := netlink.NewHandle(unix.NETLINK_ROUTE)
	if err != nil {
		return nil, fmt.Errorf("reach the node's network: %w", err)
	}
	defer here.Close()
	n := &Network{pods: c.Pods.Masked(), used: map[netip.Addr]bool{}}
	n.gateway = n.pods.Addr().Next()
	n.last = n.gateway
	steps := []func() error{
		func() error { return c.prepareMachine(machine) },
		func() error { return c.join(machine, here) },
		func() error { return n.addBridge(here) },
		forward,
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, fmt.Errorf("set up the node's network: %w", err)
		}
	}
	return n, nil
}

// prepareMachine sets up what all nodes share in the machine. Each node does so, and only the first changes anything.
func (c Config) prepareMachine(machine *netlink.Handle) error {
	lo, err := machine.LinkByName("lo")
	if err != nil {
		return err
	}
	if err := machine.LinkSetUp(lo); err != nil {
		return err
	}
	if err := machine.AddrReplace(lo, address(c.Host, c.Host.BitLen())); err != nil {
		return err
	}
	if err := machine.RouteReplace(&netlink.Route{
		LinkIndex: lo.Attrs().Index, Dst: ipNet(c.Services), Table: unix.RT_TABLE_LOCAL, Type: unix.RTN_LOCAL, Scope: unix.RT_SCOPE_HOST,
	}); err != nil {
		return err
	}
	return inNamespace(c.Machine, forward)
}

// join connects the node to the machine.
func (c Config) join(machine, here *netlink.Handle) error {
	own, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		return err
	}
	defer own.Close()
	name := fmt.Sprintf("node%d", c.Number)
	if old, err := machine.LinkByName(name); err == nil { // from this node's previous process; the kernel removes it soon
		_ = machine.LinkDel(old)
	}
	pair := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: name}, PeerName: "eth0", PeerNamespace: netlink.NsFd(int(own.Fd()))}
	if err := machine.LinkAdd(pair); err != nil {
		return fmt.Errorf("join the machine: %w", err)
	}
	if err := c.machineSide(machine, name); err != nil {
		return err
	}
	if err := loopback(here); err != nil {
		return err
	}
	eth0, err := here.LinkByName("eth0")
	if err != nil {
		return err
	}
	if err := here.AddrAdd(eth0, address(c.Address, c.Address.BitLen())); err != nil {
		return err
	}
	if err := here.LinkSetUp(eth0); err != nil {
		return err
	}
	return here.RouteReplace(&netlink.Route{LinkIndex: eth0.Attrs().Index, Gw: gateway.AsSlice(), Flags: int(netlink.FLAG_ONLINK)})
}

// machineSide adds the machine's routes to the node and its pods.
func (c Config) machineSide(machine *netlink.Handle, name string) error {
	link, err := machine.LinkByName(name)
	if err != nil {
		return err
	}
	if err := machine.AddrAdd(link, address(gateway, gateway.BitLen())); err != nil {
		return err
	}
	if err := machine.LinkSetUp(link); err != nil {
		return err
	}
	index := link.Attrs().Index
	if err := machine.RouteReplace(&netlink.Route{
		LinkIndex: index, Dst: ipNet(netip.PrefixFrom(c.Address, c.Address.BitLen())), Scope: unix.RT_SCOPE_LINK, Src: c.Host.AsSlice(),
	}); err != nil {
		return err
	}
	return machine.RouteReplace(&netlink.Route{
		LinkIndex: index, Dst: ipNet(c.Pods), Gw: c.Address.AsSlice(), Flags: int(netlink.FLAG_ONLINK), Src: c.Host.AsSlice(),
	})
}

// addBridge makes the bridge of the pods. It sets a hardware address. By default a bridge takes the lowest address of
// its ports, which changes with them. Pods would use the old one for up to a minute.
func (n *Network) addBridge(here *netlink.Handle) error {
	const local = 0x02 // the bit of locally administered addresses
	n.bridge = &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: "pods", HardwareAddr: append(net.HardwareAddr{local, 0}, n.gateway.AsSlice()...)}}
	if err := here.LinkAdd(n.bridge); err != nil {
		return fmt.Errorf("make a bridge: %w", err)
	}
	if err := here.AddrAdd(n.bridge, address(n.gateway, n.pods.Bits())); err != nil {
		return err
	}
	return here.LinkSetUp(n.bridge)
}

func loopback(h *netlink.Handle) error {
	lo, err := h.LinkByName("lo")
	if err != nil {
		return err
	}
	return h.LinkSetUp(lo)
}

// forward enables IP forwarding in this thread's network namespace.
func forward() error { return set("net.ipv4.ip_forward", "1") }

// set sets a sysctl of this thread's network namespace.
func set(name, value string) error {
	path := "/proc/sys/" + strings.ReplaceAll(name, ".", "/")
	if err := os.WriteFile(path, []byte(value), 0); err != nil {
		return fmt.Errorf("set %s: %w", name, err)
	}
	return nil
}

// inNamespace calls f in another network namespace, on a thread that ends afterwards.
func inNamespace(network *os.File, f func() error) error {
	result := make(chan error)
	go func() {
		runtime.LockOSThread()
		if err := unix.Setns(int(network.Fd()), unix.CLONE_NEWNET); err != nil {
			result <- fmt.Errorf("enter a network: %w", err)
			return
		}
		result <- f()
	}()
	return <-result
}

func address(ip netip.Addr, bits int) *netlink.Addr {
	return &netlink.Addr{IPNet: ipNet(netip.PrefixFrom(ip, bits))}
}

func ipNet(p netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}
}

// ErrFull means that all addresses for a node's pods are in use.
var ErrFull = errors.New("no free pod address")

// allocate goes through the whole range before it reuses an address: clients that remember an old pod's address must
// not reach a new pod.
func (n *Network) allocate() (netip.Addr, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for range 1 << (n.pods.Addr().BitLen() - n.pods.Bits()) {
		n.last = n.last.Next()
		if !n.pods.Contains(n.last.Next()) { // the next one is the broadcast address
			n.last = n.gateway.Next()
		}
		if !n.used[n.last] && n.last != n.gateway {
			n.used[n.last] = true
			return n.last, nil
		}
	}
	return netip.Addr{}, fmt.Errorf("%w in %s", ErrFull, n.pods)
}

func (n *Network) release(ip netip.Addr) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.used, ip)
}
