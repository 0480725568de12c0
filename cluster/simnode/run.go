package simnode

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/slipway-dev/slipway/cluster/node"
	"github.com/slipway-dev/slipway/cluster/simnode/stage"
)

// Nodes are simulated nodes that run.
type Nodes struct {
	client kubernetes.Interface
	log    *slog.Logger
	pods   *pods
	keeper *node.Keeper
	life   context.Context // that of everything here
	cancel context.CancelFunc
	group  sync.WaitGroup

	members map[string]*member // by name
}

// Options say which nodes to simulate.
type Options struct {
	Specs  []node.Spec
	Others []string // nodes that another program runs
	Log    *slog.Logger
	Habits stage.Habits // of pods whose annotations do not decide what becomes of them
	// Why says why a pod of these nodes is simulated, for an Event on the pod. Without it all pods of the cluster are.
	Why func(context.Context, *corev1.Pod) string
	// Images are on the nodes without a pull; nil for none.
	Images Images
}

// Run registers the nodes and simulates them until ctx ends or [Nodes.Stop] is called. It returns once all
// are Ready and schedulable, or with a [node.ErrInvalid] or the API server's error, and then nothing is left running.
// Nodes of an earlier run that are neither among Specs nor among Others are removed.
func Run(ctx context.Context, config *rest.Config, o Options) (*Nodes, error) {
	if err := node.Validate(o.Specs); err != nil {
		return nil, err
	}
	client, err := newClient(config)
	if err != nil {
		return nil, fmt.Errorf("nodes: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	n := &Nodes{client: client, log: o.Log, pods: newPods(client, o), life: ctx, cancel: cancel, members: map[string]*member{}}
	n.keeper = n.newKeeper()
	n.group.Go(func() { n.pods.follow(ctx) })

	nodes, err := register(ctx, client, o.Specs, o.Others, time.Now())
	if err == nil {
		err = n.pods.wait(ctx)
	}
	if err != nil {
		n.Stop()
		n.pods.queue.ShutDown()
		n.keeper.Discard()
		return nil, fmt.Errorf("nodes: %w", err)
	}
	for _, r := range nodes {
		n.members[r.spec.Name] = &member{registered: r}
		n.members[r.spec.Name].begin(ctx, client, o.Log)
	}
	n.pods.settle(nodes, n.current)
	n.group.Go(func() { n.pods.run(ctx) })
	n.group.Go(func() { n.keeper.Run(ctx, n.Names()) })
	return n, nil
}

// Stop ends the simulation and returns when nothing of it runs any more. The Nodes stay registered, as those of
// stopped machines do.
func (n *Nodes) Stop() {
	n.cancel()
	n.group.Wait()
	for _, m := range n.members {
		m.end()
	}
}

// current is a Node as the API server shows it, or, if a cached one will do, as it was heard of last.
func (n *Nodes) current(ctx context.Context, name string, cached bool) (*corev1.Node, error) {
	if shown := n.keeper.Shown(name); cached && shown != nil {
		return shown, nil
	}
	return n.client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
}

// newClient is for many small writes to an API server that does its own flow control.
func newClient(config *rest.Config) (kubernetes.Interface, error) {
	c := rest.CopyConfig(config)
	c.QPS, c.Burst = -1, 0
	c.ContentType = "application/vnd.kubernetes.protobuf"
	c.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	c.UserAgent = "slipway-nodes"
	return kubernetes.NewForConfig(c)
}
