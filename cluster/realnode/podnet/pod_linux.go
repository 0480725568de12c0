package podnet

import (
	"fmt"
	"os"
	"runtime"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// usual are the sysctls that container runtimes set in a pod's network: every user may listen on any port, and group 0
// may ping.
var usual = map[string]string{"net.ipv4.ip_unprivileged_port_start": "0", "net.ipv4.ping_group_range": "0 0"}

// Add makes a pod's network with further sysctls, which override the usual ones.
func (n *Network) Add(settings map[string]string) (*Pod, error) {
	ip, err := n.allocate()
	if err != nil {
		return nil, err
	}
	p := &Pod{Address: ip, link: "p" + fmt.Sprintf("%x", ip.As4())}
	if p.Namespace, err = newNamespace(settings); err == nil {
		err = n.join(p)
	}
	if err != nil {
		n.Remove(p)
		return nil, fmt.Errorf("make the pod's network: %w", err)
	}
	return p, nil
}

// Remove removes a pod's network. A process that still has the namespace loses its connection.
func (n *Network) Remove(p *Pod) {
	// The other end of the pair goes with it, even if a process still holds the pod's namespace.
	if link, err := netlink.LinkByName(p.link); err == nil {
		_ = netlink.LinkDel(link)
	}
	if p.Namespace != nil {
		_ = p.Namespace.Close()
	}
	n.release(p.Address)
}

// newNamespace makes a network namespace, which only the returned file keeps alive.
func newNamespace(settings map[string]string) (*os.File, error) {
	type result struct {
		file *os.File
		err  error
	}
	made := make(chan result)
	go func() {
		runtime.LockOSThread() // and never unlock it, so that the thread ends
		file, err := unshareNetwork(settings)
		made <- result{file, err}
	}()
	r := <-made
	return r.file, r.err
}

func unshareNetwork(settings map[string]string) (*os.File, error) {
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return nil, fmt.Errorf("make a network namespace: %w", err)
	}
	for name, value := range usual {
		if err := set(name, value); err != nil {
			return nil, err
		}
	}
	for name, value := range settings {
		if err := set(name, value); err != nil {
			return nil, err
		}
	}
	return os.Open("/proc/thread-self/ns/net")
}

// join connects a pod's namespace to the bridge.
func (n *Network) join(p *Pod) error {
	pair := &netlink.Veth{
		LinkAttrs: netlink.LinkAttrs{Name: p.link, MasterIndex: n.bridge.Index},
		PeerName:  "eth0", PeerNamespace: netlink.NsFd(int(p.Namespace.Fd())),
	}
	if err := netlink.LinkAdd(pair); err != nil {
		return fmt.Errorf("join the pod to the bridge: %w", err)
	}
	if err := netlink.LinkSetUp(pair); err != nil {
		return err
	}
	inside, err := netlink.NewHandleAt(netns.NsHandle(p.Namespace.Fd()), unix.NETLINK_ROUTE)
	if err != nil {
		return err
	}
	defer inside.Close()
	if err := loopback(inside); err != nil {
		return err
	}
	eth0, err := inside.LinkByName("eth0")
	if err != nil {
		return err
	}
	if err := inside.AddrAdd(eth0, address(p.Address, n.pods.Bits())); err != nil {
		return err
	}
	if err := inside.LinkSetUp(eth0); err != nil {
		return err
	}
	return inside.RouteAdd(&netlink.Route{LinkIndex: eth0.Attrs().Index, Gw: n.gateway.AsSlice()})
}
