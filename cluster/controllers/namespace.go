package controllers

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/namespace/deletion"
)

const (
	namespaceWorkers = 10
	// Content with finalizers is looked at again after growing pauses.
	namespaceRetry    = 20 * time.Millisecond
	namespaceRetryMax = 2 * time.Second
)

// namespaces tears namespaces down as soon as they are deleted. Upstream,
// pkg/controller/namespace/namespace_controller.go, waits for five seconds before it
// begins, so that several API servers see the deletion; here there is one.
// The work itself is upstream's deleter.
type namespaces struct {
	deleter deletion.NamespacedResourcesDeleterInterface
	queue   workqueue.TypedRateLimitingInterface[string]
	synced  cache.InformerSynced
}

func newNamespace(ctx context.Context, d *Deps) (Loop, error) {
	client, err := d.client("namespace-controller")
	if err != nil {
		return nil, err
	}
	core := client.CoreV1()
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[string](namespaceRetry, namespaceRetryMax)
	n := &namespaces{
		deleter: deletion.NewNamespacedResourcesDeleter(ctx, core.Namespaces(), d.metadata, core,
			client.Discovery().ServerPreferredNamespacedResources, corev1.FinalizerKubernetes),
		queue: workqueue.NewTypedRateLimitingQueue(limiter),
	}
	registration, err := d.Informers.Core().V1().Namespaces().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    n.enqueue,
		UpdateFunc: func(_, changed any) { n.enqueue(changed) },
	})
	if err != nil {
		return nil, err
	}
	n.synced = registration.HasSynced
	return n.run, nil
}

func (n *namespaces) enqueue(obj any) {
	if ns, ok := obj.(*corev1.Namespace); ok && ns.DeletionTimestamp != nil {
		n.queue.Add(ns.Name)
	}
}

func (n *namespaces) run(ctx context.Context) {
	if !cache.WaitForCacheSync(ctx.Done(), n.synced) {
		n.queue.ShutDown()
		return
	}
	var running sync.WaitGroup
	for range namespaceWorkers {
		running.Go(func() {
			for n.next(ctx) {
			}
		})
	}
	<-ctx.Done()
	n.queue.ShutDown()
	running.Wait()
}

// next handles one namespace and says whether to go on. An error is the normal
// case while content remains.
func (n *namespaces) next(ctx context.Context) bool {
	name, shutdown := n.queue.Get()
	if shutdown {
		return false
	}
	defer n.queue.Done(name)
	if err := n.deleter.Delete(ctx, name); err != nil {
		klog.FromContext(ctx).V(2).Info("Namespace is not empty yet", "namespace", name, "err", err)
		n.queue.AddRateLimited(name)
		return true
	}
	n.queue.Forget(name)
	return true
}
