package controllers

import (
	"context"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
)

const (
	// An object that is not done yet is looked at again after growing pauses.
	retry    = 20 * time.Millisecond
	retryMax = 2 * time.Second
	// pollMax bounds the pauses where nothing else tells that an object is done.
	pollMax = 200 * time.Millisecond
)

// queue is the loop of a controller of our own: keys go in from an informer, and
// handle gets each until it returns no error.
type queue struct {
	name   string
	keys   workqueue.TypedRateLimitingInterface[string]
	handle func(ctx context.Context, key string) error
	synced []cache.InformerSynced
}

func newQueue(name string, handle func(context.Context, string) error) *queue {
	return newQueueWithin(retryMax, name, handle)
}

// newPollingQueue makes a queue that handles a key often until it is done.
func newPollingQueue(name string, handle func(context.Context, string) error) *queue {
	return newQueueWithin(pollMax, name, handle)
}

func newQueueWithin(pause time.Duration, name string, handle func(context.Context, string) error) *queue {
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[string](retry, pause)
	return &queue{name: name, keys: workqueue.NewTypedRateLimitingQueue(limiter), handle: handle}
}

// watch adds the key of every object that the informer tells and wanted wants.
func (q *queue) watch(informer cache.SharedIndexInformer, wanted func(obj any) bool) error {
	add := func(obj any) {
		if key, err := cache.MetaNamespaceKeyFunc(obj); err == nil && wanted(obj) {
			q.keys.Add(key)
		}
	}
	return q.handleWith(informer, cache.ResourceEventHandlerFuncs{
		AddFunc:    add,
		UpdateFunc: func(_, changed any) { add(changed) },
	})
}

// watchGone adds the keys of objects that are no more.
func (q *queue) watchGone(informer cache.SharedIndexInformer) error {
	return q.handleWith(informer, cache.ResourceEventHandlerFuncs{DeleteFunc: func(obj any) {
		if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj); err == nil {
			q.keys.Add(key)
		}
	}})
}

// handleWith adds a handler, whose informer's first list the loop waits for.
func (q *queue) handleWith(informer cache.SharedIndexInformer, handler cache.ResourceEventHandler) error {
	registration, err := informer.AddEventHandler(handler)
	if err != nil {
		return err
	}
	q.synced = append(q.synced, registration.HasSynced)
	return nil
}

// loop handles keys, several at a time.
func (q *queue) loop(workers int) Loop {
	return func(ctx context.Context) {
		defer q.keys.ShutDown()
		if !cache.WaitForCacheSync(ctx.Done(), q.synced...) {
			return
		}
		var running sync.WaitGroup
		for range workers {
			running.Go(func() {
				for q.next(ctx) {
				}
			})
		}
		<-ctx.Done()
		q.keys.ShutDown()
		running.Wait()
	}
}

// next handles one key and says whether to go on.
func (q *queue) next(ctx context.Context) bool {
	key, shutdown := q.keys.Get()
	if shutdown {
		return false
	}
	defer q.keys.Done(key)
	if err := q.handle(ctx, key); err != nil {
		klog.FromContext(ctx).V(2).Info("Will try again", "controller", q.name, "key", key, "err", err)
		q.keys.AddRateLimited(key)
		return true
	}
	q.keys.Forget(key)
	return true
}
