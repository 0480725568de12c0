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

// Options configure [Run].
type Options struct {
	Client   *rest.Config // with all rights and without rate limits
	Specs    []node.Spec
	Others   []string // nodes of the cluster that others run; Run keeps their Nodes
	Machine  Machine
	Program  string       // the path of slipway-node
	Server   string       // the API server, host:port on this machine's loopback
	Services netip.Prefix // the range of Services
	Keys     pki.Files
	Reach
	Log    *slog.Logger // for this package's events
	Output io.Writer    // for the kubelets' logs, in klog's format
	// Registered receives the addresses of the nodes and of their pods before any node runs. It may be nil.
	Registered func([]netip.Prefix)
}

// Reach is what nodes and their pods may connect to outside the cluster.
type Reach struct {
	Registry string // the cluster's own, host:port on this machine's loopback; empty for none
	// Registries are hosts, with or without a port, that nodes may pull from even if their addresses are private or
	// this machine's.
	Registries []string
	// Mirrors are the registries to pull from instead of others: host[:port][/path] by the other registry's full name.
	// Their addresses may be private too.
	Mirrors map[string]string
	// Egress lets pods reach the network through this process. It has no effect on nodes without a network of their
	// own.
	Egress bool
	// HostPorts are the ports of this machine's loopback that Services may lead pods to.
	HostPorts []int
}

// ways returns the addresses outside the nodes' network that a node may connect to.
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

// Machine runs the nodes: [machine.Kept] in a network of its own, or [machine.Plain] on this machine as it is.
type Machine interface {
	services.Inside
	// ListenOutside accepts the TCP connections that nodes and pods make to addresses outside the ranges keep. The
	// error is a [machine.NoWayOut] if the kernel cannot redirect connections.
	ListenOutside(ctx context.Context, address string, keep []netip.Prefix) (net.Listener, error)
	// IDs reports whether nodes have many user ids, or only one.
	IDs() bool
	// Limits reports whether containers can have limits.
	Limits() bool
	// OwnNetwork reports whether the nodes share a network of their own, which Services and names are served in.
	OwnNetwork() bool
	// Place returns the folders and the port of a plain node. It returns nil for a node with namespaces.
	Place(node string) (*nodeconfig.Plain, error)
	StartNode(context.Context, machine.NodeOptions) (*machine.Node, error)
	KillNode(ctx context.Context, name string) error
	// Await waits until the machine runs. The channel is closed when that machine ends; another may then replace it.
	Await(context.Context) (ended <-chan struct{}, err error)
	// Standing waits like Await, but fails with [machine.ErrGivenUp] if the machine is no longer restarted.
	Standing(context.Context) error
	// Revive restarts a machine that was given up.
	Revive()
}

// domain is the DNS domain of the cluster.
const domain = "cluster.local"

// Nodes are running real nodes.
type Nodes struct {
	options   Options
	client    kubernetes.Interface
	authority []byte
	dns       netip.Addr
	addresses []netip.Prefix  // of the nodes and of their pods; set once they are registered
	life      context.Context // ends with the nodes
	cancel    context.CancelFunc
	group     sync.WaitGroup
	members   map[string]*member // by name
	keeper    *node.Keeper
}

// Run starts the nodes that o.Specs describe, with their Services and names. It returns when all are Ready and
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

// real reports whether ip is the address of one of these nodes or of a pod on them.
func (n *Nodes) real(ip netip.Addr) bool {
	return slices.ContainsFunc(n.addresses, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// Stop ends the nodes and returns when all their processes have ended. The Nodes stay registered, as those of machines
// that are switched off do.
func (n *Nodes) Stop() {
	n.cancel()
	for _, m := range n.members {
		if err := m.end(); err != nil {
			n.options.Log.Warn("a node could not be ended", "node", m.spec.Name, "error", err)
		}
	}
	n.group.Wait()
}

// StopNode ends a node and its pods' processes, as if its machine were switched off. The node stays lost until
// [Nodes.StartNode].
func (n *Nodes) StopNode(name string) error {
	m, err := n.member(name)
	if err != nil {
		return err
	}
	return m.stop()
}

// StartNode starts a lost node and returns when it is Ready. It does nothing to a node that runs.
func (n *Nodes) StartNode(ctx context.Context, name string) error {
	m, err := n.member(name)
	if err != nil {
		return err
	}
	n.options.Machine.Revive()
	return m.start(ctx)
}

// StartAll starts all lost nodes, one after the other.
func (n *Nodes) StartAll(ctx context.Context) error {
	var errs []error
	for _, name := range n.Names() {
		errs = append(errs, n.StartNode(ctx, name))
	}
	return errors.Join(errs...)
}

// Names returns the names of the nodes, sorted.
func (n *Nodes) Names() []string { return slices.Sorted(maps.Keys(n.members)) }

// Lost returns the names of the nodes that do not run because they were stopped or given up, sorted.
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

// NameService returns the address of the cluster's DNS Service.
func (n *Nodes) NameService() netip.Addr { return n.dns }

// host returns the address that stands for this machine in the nodes' network.
func (n *Nodes) host() netip.Addr { return network.Host }
