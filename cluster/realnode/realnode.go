package realnode

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/slipway-dev/slipway/cluster/network"
	"github.com/slipway-dev/slipway/cluster/node"
	"github.com/slipway-dev/slipway/cluster/pki"
	"github.com/slipway-dev/slipway/cluster/realnode/egress"
	"github.com/slipway-dev/slipway/cluster/realnode/fdpass"
	"github.com/slipway-dev/slipway/cluster/realnode/machine"
	"github.com/slipway-dev/slipway/cluster/realnode/nodeconfig"
	"github.com/slipway-dev/slipway/cluster/realnode/services"
)

// Options say which nodes to run, and for whom.
type Options struct {
	Client   *rest.Config // all rights, no limits
	Specs    []node.Spec
	Others   []string // nodes that another program runs
	Machine  Machine
	Program  string       // the path of slipway-node
	Server   string       // the API server, host:port on this machine's loopback
	Services netip.Prefix // the range of Services
	Keys     pki.Files
	Registry string // the cluster's own, host:port on this machine's loopback; empty for none
	// Registries are those that nodes may pull from although their addresses are this machine's or private: host or
	// host:port.
	Registries []string
	// Mirrors are asked in place of registries, wherever they are: host[:port][/path] by the registry's full name.
	Mirrors map[string]string
	// Egress lets pods reach the network by way of this process. It has no effect where nodes have no network of their
	// own.
	Egress bool
	// HostPorts are those of this machine's loopback that Services may lead pods to.
	HostPorts []int
	Log       *slog.Logger // for what is done here
	Output    io.Writer    // for what the kubelets log, in klog's lines
	// Registered is reported the addresses of the nodes and of their pods, before any of them runs. May be nil.
	Registered func([]netip.Prefix)
}

// ways are those by which a node reaches what is not in the cluster.
func (o Options) ways() fdpass.Ways {
	own := []string{o.Server}
	if o.Registry != "" {
		own = append(own, o.Registry)
	}
	named := slices.Clone(o.Registries)
	for _, mirror := range o.Mirrors {
		host, _, _ := strings.Cut(mirror, "/")
		named = append(named, host)
	}
	return fdpass.Ways{Own: own, Named: named, Route: egress.CheckRoute}
}

// Machine is what nodes stand on: [machine.Kept] with a network of its own, or [machine.Plain], this machine as it is.
type Machine interface {
	services.Inside
	// ListenOutside takes the connections over TCP that nodes and pods make to addresses which are in none of keep. The
	// error is a [machine.NoWayOut] where the kernel has no such thing.
	ListenOutside(ctx context.Context, address string, keep []netip.Prefix) (net.Listener, error)
	// IDs says whether many user ids are there, or only one.
	IDs() bool
	// Limits says whether containers can be limited.
	Limits() bool
	// OwnNetwork says whether the nodes are joined in a network of their own, where Services and names can be.
	OwnNetwork() bool
	// Place says where a node finds what it needs that has no namespaces; nil for one that has.
	Place(node string) (*nodeconfig.Plain, error)
	StartNode(context.Context, machine.NodeOptions) (*machine.Node, error)
	KillNode(ctx context.Context, name string) error
	// Await waits until the machine runs, and returns what is closed when it has ended, after which it may run again.
	Await(context.Context) (ended <-chan struct{}, err error)
	// Standing waits likewise, and fails with [machine.ErrGivenUp] if the machine is not started any more.
	Standing(context.Context) error
	// Revive starts one again that was given up.
	Revive()
}

// domain is the one of all names of the cluster.
const domain = "cluster.local"

// Nodes are real nodes that run.
type Nodes struct {
	options   Options
	client    kubernetes.Interface
	authority []byte
	dns       netip.Addr
	addresses []netip.Prefix  // the nodes' and their pods', once they are registered
	life      context.Context // that of everything here
	cancel    context.CancelFunc
	group     sync.WaitGroup
	members   map[string]*member // by name
	keeper    *node.Keeper
}

// Run starts the nodes that specs describe, with their Services and names, and returns once all are Ready and
// schedulable. They run until ctx ends or [Nodes.Stop] is called.
func Run(ctx context.Context, o Options) (*Nodes, error) {
	if err := node.Validate(o.Specs); err != nil {
		return nil, err
	}
	n := &Nodes{options: o, members: map[string]*member{}}
	n.life, n.cancel = context.WithCancel(ctx)
	if err := n.start(ctx); err != nil {
		n.Stop()
		return nil, fmt.Errorf("nodes: %w", err)
	}
	return n, nil
}

func (n *Nodes) start(ctx context.Context) error {
	config := rest.CopyConfig(n.options.Client)
	config.UserAgent = "slipway-nodes"
	var err error
	if n.client, err = kubernetes.NewForConfig(config); err != nil {
		return err
	}
	if n.authority, err = os.ReadFile(n.options.Keys.CA); err != nil {
		return err
	}
	if n.dns, err = ensureNameService(ctx, n.client, n.options.Services); err != nil {
		return err
	}
	registered, err := register(ctx, n.client, n.options.Specs, n.options.Others, !n.options.Machine.OwnNetwork())
	if err != nil {
		return err
	}
	for _, r := range registered {
		n.members[r.spec.Name] = &member{nodes: n, registered: r}
		own := node.Address(r.number)
		n.addresses = append(n.addresses, node.PodRange(r.number), netip.PrefixFrom(own, own.BitLen()))
	}
	if n.options.Registered != nil {
		n.options.Registered(n.addresses)
	}
	if err := n.serveHostPorts(); err != nil {
		return err
	}
	n.keeper = n.newKeeper()
	n.group.Go(func() { n.keeper.Run(n.life, n.Names()) })
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return n.serve(ctx) })
	for _, m := range n.members {
		group.Go(func() error { return m.start(ctx) })
	}
	return group.Wait()
}

// real says whether an address is that of one of these nodes, or of one of their pods.
func (n *Nodes) real(ip netip.Addr) bool {
	return slices.ContainsFunc(n.addresses, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// Stop ends the nodes and returns when nothing of them runs any more. They stay registered, as those of stopped
// machines do.
func (n *Nodes) Stop() {
	n.cancel()
	for _, m := range n.members {
		if err := m.end(); err != nil {
			n.options.Log.Warn("a node could not be ended", "node", m.spec.Name, "error", err)
		}
	}
	n.group.Wait()
}

// StopNode makes a node be lost, as when its machine is switched off: with it go its pods' processes. A lost node stays
// lost.
func (n *Nodes) StopNode(name string) error {
	m, err := n.member(name)
	if err != nil {
		return err
	}
	return m.stop()
}

// StartNode starts a lost node, and returns when it is Ready again. It does nothing to a node that runs.
func (n *Nodes) StartNode(ctx context.Context, name string) error {
	m, err := n.member(name)
	if err != nil {
		return err
	}
	n.options.Machine.Revive()
	return m.start(ctx)
}

// StartAll starts all lost nodes.
func (n *Nodes) StartAll(ctx context.Context) error {
	var errs []error
	for _, name := range n.Names() {
		errs = append(errs, n.StartNode(ctx, name))
	}
	return errors.Join(errs...)
}

// Names lists the nodes.
func (n *Nodes) Names() []string { return slices.Sorted(maps.Keys(n.members)) }

// Lost lists the nodes that were stopped and not started again.
func (n *Nodes) Lost() []string {
	return slices.DeleteFunc(n.Names(), func(name string) bool { return n.members[name].wanted() })
}

func (n *Nodes) member(name string) (*member, error) {
	if m, ok := n.members[name]; ok {
		return m, nil
	}
	if len(n.members) == 0 {
		return nil, fmt.Errorf("%w %q: the cluster has no nodes", node.ErrUnknown, name)
	}
	return nil, fmt.Errorf("%w %q: the nodes are %s", node.ErrUnknown, name, strings.Join(n.Names(), ", "))
}

// NameService is the address of the Service for names.
func (n *Nodes) NameService() netip.Addr { return n.dns }

// host stands for this machine among the addresses of the nodes' network.
func (n *Nodes) host() netip.Addr { return network.Host }
