package simnode

import (
	"context"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/slipway-dev/slipway/cluster/node"
)

// keeper watches the Nodes and mends what befalls those that run: one that was deleted registers again, one that counts
// as lost, as after a suspend of this machine, reports at once and not with its next heartbeat.
type keeper struct {
	nodes    *Nodes
	informer cache.SharedIndexInformer
	queue    workqueue.TypedRateLimitingInterface[string]
}

func newKeeper(n *Nodes) *keeper {
	simulated := func(o *metav1.ListOptions) { o.LabelSelector = node.SimulatedLabel }
	k := &keeper{
		nodes:    n,
		informer: coreinformers.NewFilteredNodeInformer(n.client, 0, cache.Indexers{}, simulated),
		queue:    workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]()),
	}
	// It does not fail on an informer that has not started.
	_, _ = k.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    k.changed,
		UpdateFunc: func(_, node any) { k.changed(node) },
		DeleteFunc: k.changed,
	})
	return k
}

func (k *keeper) changed(node any) {
	if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(node); err == nil && !k.fine(key) {
		k.queue.Add(key)
	}
}

// run works until ctx ends.
func (k *keeper) run(ctx context.Context) {
	var group sync.WaitGroup
	group.Go(func() { k.informer.RunWithContext(ctx) })
	group.Go(func() {
		if !cache.WaitForCacheSync(ctx.Done(), k.informer.HasSynced) {
			return
		}
		for name := range k.nodes.members { // what happened before the informer listed brings no news
			k.queue.Add(name)
		}
		for k.work(ctx) {
		}
	})
	<-ctx.Done()
	k.queue.ShutDown()
	group.Wait()
}

func (k *keeper) work(ctx context.Context) bool {
	name, shutdown := k.queue.Get()
	if shutdown {
		return false
	}
	defer k.queue.Done(name)
	if err := k.mend(ctx, name); err != nil {
		if ctx.Err() == nil {
			k.nodes.log.Warn("node not repaired, will retry", "node", name, "error", err)
		}
		k.queue.AddRateLimited(name)
		return true
	}
	k.queue.Forget(name)
	return true
}

// mend reports for a node that counts as lost, and registers one whose Node is gone.
func (k *keeper) mend(ctx context.Context, name string) error {
	m, ok := k.nodes.members[name]
	if !ok {
		return nil
	}
	m.turn.Lock()
	defer m.turn.Unlock()
	if !m.runs() || k.fine(name) {
		return nil
	}
	if node, ok := k.shown(name); ok && node.UID == m.current().UID {
		return beat(ctx, k.nodes.client, name, time.Now())
	}
	if err := k.nodes.registerAgain(ctx, m); err != nil {
		return err
	}
	m.end() // the lease has another owner now
	m.begin(k.nodes.life, k.nodes.client, k.nodes.log)
	return nil
}

// fine tells whether there is nothing to mend: the Node is as registered and not taken for lost, or meant to be so.
func (k *keeper) fine(name string) bool {
	m, ok := k.nodes.members[name]
	if !ok || !m.runs() {
		return true
	}
	node, ok := k.shown(name)
	return ok && node.UID == m.current().UID && slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

// shown is the Node as the API server shows it.
func (k *keeper) shown(name string) (*corev1.Node, bool) {
	o, exists, err := k.informer.GetStore().GetByKey(name)
	if err != nil || !exists {
		return nil, false
	}
	node, ok := o.(*corev1.Node)
	return node, ok
}
