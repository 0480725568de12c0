package node

import (
	"context"
	"log/slog"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// KeeperOptions say which Nodes to keep, and how.
type KeeperOptions struct {
	Client kubernetes.Interface
	Label  string // that the Nodes have
	// Fine says whether nothing is to be done for a node. Shown is its Node as the API server shows it; nil for none.
	Fine func(name string, shown *corev1.Node) bool
	// Repair makes a node fine that is not. Last is the Node as it was shown last; nil if it never was.
	Repair func(ctx context.Context, name string, shown, last *corev1.Node) error
	Log    *slog.Logger
}

// Keeper watches Nodes and repairs what befalls them: one that a user deletes registers again, as one whose kubelet is
// restarted.
type Keeper struct {
	options  KeeperOptions
	informer cache.SharedIndexInformer
	queue    workqueue.TypedRateLimitingInterface[string]

	mu   sync.Mutex
	last map[string]*corev1.Node
}

// NewKeeper prepares a keeper, which works from [Keeper.Run] on.
func NewKeeper(o KeeperOptions) *Keeper {
	labelled := func(l *metav1.ListOptions) { l.LabelSelector = o.Label }
	k := &Keeper{
		options: o, last: map[string]*corev1.Node{},
		informer: coreinformers.NewFilteredNodeInformer(o.Client, 0, cache.Indexers{}, labelled),
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

func (k *Keeper) changed(node any) {
	if gone, ok := node.(cache.DeletedFinalStateUnknown); ok {
		node = gone.Obj
	}
	n, ok := node.(*corev1.Node)
	if !ok {
		return
	}
	k.mu.Lock()
	k.last[n.Name] = n
	k.mu.Unlock()
	k.Look(n.Name)
}

// Look has a node repaired if it is not fine.
func (k *Keeper) Look(name string) {
	if !k.options.Fine(name, k.Shown(name)) {
		k.queue.Add(name)
	}
}

// Run works until ctx ends. It begins with a look at these nodes: of what happened before there is no news.
func (k *Keeper) Run(ctx context.Context, names []string) {
	var group sync.WaitGroup
	group.Go(func() { k.informer.RunWithContext(ctx) })
	group.Go(func() {
		if !cache.WaitForCacheSync(ctx.Done(), k.informer.HasSynced) {
			return
		}
		for _, name := range names {
			k.queue.Add(name)
		}
		for k.work(ctx) {
		}
	})
	<-ctx.Done()
	k.queue.ShutDown()
	group.Wait()
}

// Discard ends a keeper that does not run.
func (k *Keeper) Discard() { k.queue.ShutDown() }

func (k *Keeper) work(ctx context.Context) bool {
	name, shutdown := k.queue.Get()
	if shutdown {
		return false
	}
	defer k.queue.Done(name)
	if err := k.repair(ctx, name); err != nil {
		if ctx.Err() == nil {
			k.options.Log.Warn("node not repaired, will retry", "node", name, "error", err)
		}
		k.queue.AddRateLimited(name)
		return true
	}
	k.queue.Forget(name)
	return true
}

func (k *Keeper) repair(ctx context.Context, name string) error {
	shown := k.Shown(name)
	if k.options.Fine(name, shown) {
		return nil
	}
	k.mu.Lock()
	last := k.last[name]
	k.mu.Unlock()
	return k.options.Repair(ctx, name, shown, last)
}

// Shown is the Node as the API server shows it; nil for none, and for those that have not been heard of yet. It is not
// to be changed.
func (k *Keeper) Shown(name string) *corev1.Node {
	o, exists, err := k.informer.GetStore().GetByKey(name)
	if err != nil || !exists {
		return nil
	}
	n, _ := o.(*corev1.Node)
	return n
}
