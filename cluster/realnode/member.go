package realnode

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"

	"github.com/slipway-dev/slipway/cluster/logs"
	"github.com/slipway-dev/slipway/cluster/node"
	"github.com/slipway-dev/slipway/cluster/pki"
	"github.com/slipway-dev/slipway/cluster/realnode/machine"
	"github.com/slipway-dev/slipway/cluster/realnode/nodeconfig"
)

// member is a node with its process.
type member struct {
	nodes *Nodes
	registered
	turn   sync.Mutex   // serializes starts and stops of the node
	panics atomic.Int64 // of all the node's processes so far

	mu       sync.Mutex
	process  *machine.Node // nil while the node is lost
	requests *nodeconfig.Node
}

func (m *member) wanted() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.process != nil
}

func (m *member) set(p *machine.Node) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.process = p
}

// start starts the node unless it runs, and returns when it is Ready. It begins again if the machine ends meanwhile.
func (m *member) start(ctx context.Context) error {
	m.turn.Lock()
	defer m.turn.Unlock()
	if m.wanted() {
		return nil
	}
	for {
		err := m.startOnce(ctx)
		if !errors.Is(err, machine.ErrEnded) {
			return err
		}
		m.nodes.options.Log.Warn("a node's start begins again", "node", m.spec.Name, "error", err)
	}
}

func (m *member) startOnce(ctx context.Context) error {
	since := time.Now()
	p, err := m.launch(ctx)
	if err != nil {
		return err
	}
	m.set(p)
	m.nodes.group.Go(func() { m.keep(p) })
	m.nodes.keeper.Look(m.spec.Name) // the Node may have been deleted meanwhile
	return m.waitReady(ctx, p, since)
}

func (m *member) stop() error {
	m.turn.Lock()
	defer m.turn.Unlock()
	return m.end()
}

func (m *member) end() error {
	m.set(nil)
	return m.nodes.options.Machine.KillNode(context.Background(), m.spec.Name)
}

// restartPause is the pause before a node that ended by itself starts again.
const restartPause = time.Second

// keep restarts the node whenever it ends by itself, as a machine's service manager restarts a kubelet.
func (m *member) keep(p *machine.Node) {
	for {
		select {
		case <-p.Ended():
		case <-m.nodes.life.Done():
			return
		}
		m.mu.Lock()
		wanted := m.process == p
		m.mu.Unlock()
		if !wanted || m.nodes.life.Err() != nil {
			return
		}
		m.nodes.options.Log.Warn("a node has ended and is restarted", "node", m.spec.Name, "how", p.Status())
		if p = m.restart(p); p == nil {
			return
		}
	}
}

// restart tries to restart a node that ended, until it succeeds. It returns nil if the node was stopped or cannot
// return.
func (m *member) restart(old *machine.Node) *machine.Node {
	for {
		select {
		case <-time.After(restartPause):
		case <-m.nodes.life.Done():
			return nil
		}
		p, err := m.replace(old)
		if err == nil {
			return p
		}
		if errors.Is(err, machine.ErrGivenUp) { // the machine has logged it
			m.markLost(old)
			return nil
		}
		if errors.Is(err, machine.ErrEnded) {
			continue
		}
		m.nodes.options.Log.Error("a node cannot be restarted", "node", m.spec.Name, "error", err)
	}
}

// markLost marks the node as lost if old is still its process.
func (m *member) markLost(old *machine.Node) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.process == old {
		m.process = nil
	}
}

func (m *member) replace(old *machine.Node) (*machine.Node, error) {
	m.turn.Lock()
	defer m.turn.Unlock()
	m.mu.Lock()
	wanted := m.process == old
	m.mu.Unlock()
	if !wanted {
		return nil, nil
	}
	p, err := m.launch(m.nodes.life)
	if err == nil {
		m.set(p)
	}
	return p, err
}

// launch starts the node's process and sends its configuration. It does not wait until the node is Ready.
func (m *member) launch(ctx context.Context) (*machine.Node, error) {
	if err := m.nodes.options.Machine.Standing(ctx); err != nil {
		return nil, err
	}
	config, err := m.config(ctx)
	if err != nil {
		return nil, err
	}
	conn, theirs, err := machine.Talk()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	log := &nodeLog{to: m.nodes.options.Output, panics: &m.panics}
	p, err := m.nodes.options.Machine.StartNode(ctx, machine.NodeOptions{
		Name: m.spec.Name, Program: m.nodes.options.Program, Log: log, Talk: theirs, Ways: m.nodes.options.ways(),
	})
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	talk := nodeconfig.NewNode(conn)
	m.nodes.group.Go(func() { _ = talk.Configure(config) }) // a write fails only if the node has ended
	m.mu.Lock()
	m.requests = talk
	m.mu.Unlock()
	m.nodes.group.Go(func() {
		defer talk.Close()
		select {
		case <-p.Ended():
			if p.Crashed() {
				log.crashed()
			}
		case <-m.nodes.life.Done():
		}
	})
	return p, nil
}

// asked returns the connection for requests to the node, or nil while it is lost.
func (m *member) asked() *nodeconfig.Node {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.process == nil {
		return nil
	}
	return m.requests
}

// object returns the Node. It registers the Node anew if a user deleted it while the node was lost.
func (m *member) object(ctx context.Context) (*corev1.Node, error) {
	n, err := m.nodes.client.CoreV1().Nodes().Get(ctx, m.spec.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return m.register(ctx, m.nodes.client, nil, nil)
	case err != nil:
		return nil, fmt.Errorf("look up node %s: %w", m.spec.Name, err)
	}
	return n, nil
}

// config returns the node's configuration, with the Node's current labels and taints: the kubelet admits pods by them.
func (m *member) config(ctx context.Context) (nodeconfig.Config, error) {
	o := m.nodes.options
	object, err := m.object(ctx)
	if err != nil {
		return nodeconfig.Config{}, err
	}
	address := node.Address(m.number)
	identity, serving, err := pki.ForNode(o.Keys, m.spec.Name, net.IP(address.AsSlice()))
	if err != nil {
		return nodeconfig.Config{}, err
	}
	place, err := o.Machine.Place(m.spec.Name)
	if err != nil {
		return nodeconfig.Config{}, err
	}
	if m.plain {
		if err := m.publishAddress(ctx); err != nil {
			return nodeconfig.Config{}, err
		}
	}
	return nodeconfig.Config{
		Name: m.spec.Name, Number: m.number, IDs: o.Machine.IDs(), Limits: o.Machine.Limits(),
		Address: address, Pods: node.PodRange(m.number), Services: o.Services, Machine: m.nodes.host(), DNS: m.nodes.dns, Domain: domain,
		Server: o.Server, Authority: m.nodes.authority, Identity: nodeconfig.Pair(identity), Serving: nodeconfig.Pair(serving),
		Registry: o.Registry, Mirrors: o.Mirrors, Labels: object.Labels, Taints: object.Spec.Taints, Capacity: capacity(m.spec), Kubernetes: node.KubeletVersion, Verbosity: logs.Verbose,
		Plain: place,
	}, nil
}

// capacity returns the resources that a real node advertises. Without a configured number of pods the kubelet's default
// applies: real pods cost more than simulated ones.
func capacity(s node.Spec) corev1.ResourceList {
	amounts := s.Advertised()
	if _, ok := s.Capacity[corev1.ResourcePods]; !ok {
		delete(amounts, corev1.ResourcePods)
	}
	return amounts
}

// publishAddress writes the Node's address for a plain node, whose kubelet runs with an external cloud provider and so
// reports none. It retries conflicts, because controllers change a new Node at the same time.
func (m *member) publishAddress(ctx context.Context) error {
	nodes := m.nodes.client.CoreV1().Nodes()
	err := retry.RetryOnConflict(node.Conflicts(), func() error {
		object, err := nodes.Get(ctx, m.spec.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		object.Status.Addresses = []corev1.NodeAddress{
			{Type: corev1.NodeInternalIP, Address: node.Address(m.number).String()}, {Type: corev1.NodeHostName, Address: m.spec.Name},
		}
		_, err = nodes.UpdateStatus(ctx, object, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		return fmt.Errorf("publish the address of node %s: %w", m.spec.Name, err)
	}
	return nil
}

// readyPoll is short because a node's start takes a fraction of a second.
const readyPoll = 10 * time.Millisecond

// waitReady waits until the node reports Ready, at or after since. Then it removes the taint of nodes that are not
// ready.
func (m *member) waitReady(ctx context.Context, p *machine.Node, since time.Time) error {
	tick := time.NewTicker(readyPoll)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-p.Ended():
			if p.WithMachine() {
				return fmt.Errorf("node %s: %w", m.spec.Name, machine.ErrEnded)
			}
			return fmt.Errorf("node %s ended before it was ready (%s): see the log of the nodes", m.spec.Name, p.Status())
		case <-ctx.Done():
			return fmt.Errorf("wait for node %s: %w", m.spec.Name, context.Cause(ctx))
		}
		object, err := m.nodes.client.CoreV1().Nodes().Get(ctx, m.spec.Name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			return fmt.Errorf("wait for node %s: %w", m.spec.Name, err)
		case isReady(object, since):
			return m.untaint(ctx)
		}
	}
}

// isReady reports whether the node reported Ready at or after since. The API stores whole seconds.
func isReady(object *corev1.Node, since time.Time) bool {
	for _, c := range object.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue && !c.LastHeartbeatTime.Time.Before(since.Truncate(time.Second))
		}
	}
	return false
}

// untaint removes the not-ready and unreachable taints at once. The node lifecycle controller would do it later.
func (m *member) untaint(ctx context.Context) error {
	nodes := m.nodes.client.CoreV1().Nodes()
	err := retry.RetryOnConflict(node.Conflicts(), func() error {
		object, err := nodes.Get(ctx, m.spec.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		kept := withoutNotReady(object.Spec.Taints)
		if len(kept) == len(object.Spec.Taints) {
			return nil
		}
		object.Spec.Taints = kept
		_, err = nodes.Update(ctx, object, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		return fmt.Errorf("make node %s schedulable: %w", m.spec.Name, err)
	}
	return nil
}
