package realnode

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/informers"

	"github.com/slipway-dev/slipway/cluster/realnode/dns"
	"github.com/slipway-dev/slipway/cluster/realnode/egress"
	"github.com/slipway-dev/slipway/cluster/realnode/services"
)

// serve serves Services and names in the nodes' own network, if they have one, and returns when all are served. The
// sockets end with the machine, so each new machine gets new ones. The engine serves NodePorts and load balancers.
func (n *Nodes) serve(ctx context.Context) error {
	if !n.options.Machine.OwnNetwork() {
		return nil
	}
	first := make(chan error, 1)
	n.group.Go(func() { n.keepServing(first) })
	select {
	case err := <-first:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// keepServing serves on each machine in turn. It sends nil to first when all is served, or the error if the first
// running machine cannot serve.
func (n *Nodes) keepServing(first chan<- error) {
	var said sync.Once
	say := func(err error) { said.Do(func() { first <- err }) }
	for n.life.Err() == nil { // without pause: Await blocks until a machine runs
		ended, err := n.options.Machine.Await(n.life)
		if err != nil {
			return
		}
		life, cancel := context.WithCancel(n.life)
		n.group.Go(func() {
			defer cancel()
			select {
			case <-ended:
			case <-life.Done():
			}
		})
		if err := n.serveOn(life, func() { say(nil) }); err != nil && life.Err() == nil {
			n.options.Log.Error("Services and names cannot be served", "error", err)
			say(err)
			n.pause(life)
		}
		cancel()
	}
}

func (n *Nodes) pause(ctx context.Context) {
	select {
	case <-time.After(restartPause):
	case <-ctx.Done():
	}
}

// serveOn serves Services and names on one machine, until life ends. It calls ready when all are served.
func (n *Nodes) serveOn(life context.Context, ready func()) error {
	life, cancel := context.WithCancel(life)
	factory := informers.NewSharedInformerFactory(n.client, 0)
	defer factory.Shutdown()
	defer cancel()
	outsiders := n.newOutsiders()
	proxy, err := services.New(factory, services.Options{
		Dialer: n.options.Machine, Inside: n.options.Machine, Server: n.options.Server, Names: n.dns, Outside: n.reportOutside(outsiders), Real: n.real,
		Log: n.options.Log,
	})
	if err != nil {
		return err
	}
	names := dns.New(factory, domain, n.options.Log)
	names.FollowOutside(outsiders.note)
	var group sync.WaitGroup
	defer group.Wait()
	if n.options.Egress {
		if err := n.serveOutside(life, names, outsiders, &group); err != nil {
			cancel()
			return err
		}
	}
	factory.Start(life.Done())
	group.Go(func() { outsiders.run(life) })
	if err := n.serveNames(life, names, &group); err != nil {
		cancel()
		return err
	}
	proxy.Run(life, ready)
	return nil
}

func (n *Nodes) serveNames(life context.Context, names *dns.Server, group *sync.WaitGroup) error {
	address := netip.AddrPortFrom(n.dns, namePort).String()
	packets, err := n.options.Machine.ListenPacket(life, address)
	if err != nil {
		return err
	}
	listener, err := n.options.Machine.Listen(life, address)
	if err != nil {
		return errors.Join(err, packets.Close())
	}
	context.AfterFunc(life, func() {
		_ = packets.Close()
		_ = listener.Close()
	})
	group.Go(func() { names.Serve(packets) })
	group.Go(func() { names.ServeTCP(listener) })
	return nil
}

// egressPort is the port that receives redirected connections, at the host's address in the nodes' network. A pod that
// connects to it directly is refused, because its destination is in the cluster's own range.
const egressPort = 1

// serveOutside forwards connections of nodes and pods to addresses outside the cluster, and resolves outside names.
func (n *Nodes) serveOutside(life context.Context, names *dns.Server, outsiders *refusalReporter, group *sync.WaitGroup) error {
	own := n.policy().Cluster
	// Connections to the cluster's, loopback, multicast and reserved addresses are not redirected.
	keep := append(slices.Clone(own), netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("224.0.0.0/3"))
	listener, err := n.options.Machine.ListenOutside(life, netip.AddrPortFrom(n.host(), egressPort).String(), keep)
	if err != nil {
		return fmt.Errorf("--egress: %w", err)
	}
	context.AfterFunc(life, func() { _ = listener.Close() })
	way := egress.New(n.policy(), n.options.Log, outsiders.noteRefused)
	names.LookOutside(life, way.Lookup)
	group.Go(func() { way.Serve(life, listener) })
	return nil
}
