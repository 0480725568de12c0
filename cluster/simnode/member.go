package simnode

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/slipway-dev/slipway/cluster/node"
)

// member is one of the nodes, which may be lost.
type member struct {
	registered
	turn sync.Mutex // held by whoever stops, starts or mends the node

	mu   sync.Mutex         // guards object and what follows
	stop context.CancelFunc // nil while the node is lost
	done chan struct{}      // closed when its heartbeats have ended
}

// begin starts the heartbeats of a node that has none.
func (m *member) begin(ctx context.Context, client kubernetes.Interface, log *slog.Logger) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stop != nil {
		return
	}
	ctx, m.stop = context.WithCancel(ctx)
	done, object := make(chan struct{}), m.object
	m.done = done
	go func() {
		defer close(done)
		heartbeats(ctx, client, object, log)
	}()
}

// end ends the heartbeats and waits until no more come.
func (m *member) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stop == nil {
		return
	}
	m.stop()
	<-m.done
	m.stop = nil
}

func (m *member) runs() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.stop != nil
}

func (m *member) current() *corev1.Node {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.object
}

// become makes another object the node's.
func (m *member) become(object *corev1.Node) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.object = object
}

// StopNode makes a node be lost, as when its machine is switched off: when it returns, neither heartbeats nor news of
// pods come from it any more. The cluster notices as it does with any node. A lost node stays lost; an unknown name is
// a [node.ErrUnknown].
func (n *Nodes) StopNode(name string) error {
	m, err := n.member(name)
	if err != nil {
		return err
	}
	m.turn.Lock()
	defer m.turn.Unlock()
	n.pods.freeze(name)
	m.end()
	return nil
}

// StartNode brings a lost node back, which then is Ready at once and reports what became of its pods. It does nothing
// to a node that runs; an unknown name is a [node.ErrUnknown].
func (n *Nodes) StartNode(ctx context.Context, name string) error {
	m, err := n.member(name)
	if err != nil {
		return err
	}
	m.turn.Lock()
	defer m.turn.Unlock()
	if m.runs() {
		return nil
	}
	if err := n.registerAgain(ctx, m); err != nil {
		return err
	}
	m.begin(n.life, n.client, n.log)
	n.pods.thaw(name)
	return nil
}

// StartAll brings all lost nodes back.
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
	return slices.DeleteFunc(n.Names(), func(name string) bool { return n.members[name].runs() })
}

func (n *Nodes) member(name string) (*member, error) {
	if m, ok := n.members[name]; ok {
		return m, nil
	}
	if len(n.members) == 0 {
		return nil, fmt.Errorf("%w %q: the cluster has no simulated nodes", node.ErrUnknown, name)
	}
	return nil, fmt.Errorf("%w %q: the nodes are %s", node.ErrUnknown, name, strings.Join(n.Names(), ", "))
}

// registerAgain brings the Node up to date, or makes it anew when it was deleted.
func (n *Nodes) registerAgain(ctx context.Context, m *member) error {
	old, err := n.client.CoreV1().Nodes().Get(ctx, m.spec.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		old, err = nil, nil
	}
	if err == nil {
		old, err = registerOne(ctx, n.client, m.spec, m.number, old, time.Now())
	}
	if err != nil {
		return fmt.Errorf("register node %s: %w", m.spec.Name, err)
	}
	m.become(old)
	return nil
}
