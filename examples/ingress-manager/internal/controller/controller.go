// Package controller gives each Service with the annotation [HostAnnotation] an Ingress of the Service's name, and
// takes it away when the annotation goes.
//
// It is made of the parts that every controller of Kubernetes has: informers watch Services and Ingresses and keep
// copies of them, listers read these copies, a work queue holds the keys of Services to look at, and workers bring one
// Service after the other to its desired state. See [Controller.Run].
package controller

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	networklisters "k8s.io/client-go/listers/networking/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
)

const (
	// Retries is how often a failed pass over a Service is repeated. With the queue's usual delays, from five
	// milliseconds and doubled each time, that is more than a minute. Afterwards the Service waits for its next change,
	// or for the informers' resync.
	Retries = 15

	// passTime bounds one pass, also that which a stopped controller has begun. A leader that has lost its lease knows
	// it five seconds before another may take the lease.
	passTime = 5 * time.Second
)

// Options are what a controller is made of.
type Options struct {
	Client    kubernetes.Interface
	Informers informers.SharedInformerFactory
	Recorder  events.EventRecorder

	// IngressClass is the class of all Ingresses. Without one they get the cluster's default class, if it has one.
	IngressClass string

	// Domain is where all hosts must be. Without one a Service may have any host, and all hosts.
	Domain string

	// Workers is how many Services are worked on at the same time. One key is never with two workers.
	Workers int

	// Limiter delays the repetition of failed passes; nil is client-go's usual one.
	Limiter workqueue.TypedRateLimiter[cache.ObjectName]
}

// Controller is the control loop. Use [New].
type Controller struct {
	client    kubernetes.Interface
	informers informers.SharedInformerFactory
	services  corelisters.ServiceLister
	ingresses networklisters.IngressLister
	handlers  []cache.ResourceEventHandlerRegistration
	recorder  events.EventRecorder
	queue     workqueue.TypedRateLimitingInterface[cache.ObjectName]
	class     string
	domain    string
	workers   int
}

// New returns a controller that has registered with the informers. It works when [Controller.Run] is called.
func New(o Options) (*Controller, error) {
	if o.Limiter == nil {
		o.Limiter = workqueue.DefaultTypedControllerRateLimiter[cache.ObjectName]()
	}
	services, ingresses := o.Informers.Core().V1().Services(), o.Informers.Networking().V1().Ingresses()
	c := &Controller{
		client:    o.Client,
		informers: o.Informers,
		services:  services.Lister(),
		ingresses: ingresses.Lister(),
		recorder:  o.Recorder,
		queue:     workqueue.NewTypedRateLimitingQueue(o.Limiter),
		class:     o.IngressClass,
		domain:    o.Domain,
		workers:   o.Workers,
	}
	for _, informer := range []cache.SharedIndexInformer{services.Informer(), ingresses.Informer()} {
		handler, err := informer.AddEventHandler(c.enqueueAll())
		if err != nil {
			return nil, fmt.Errorf("register with an informer: %w", err)
		}
		c.handlers = append(c.handlers, handler)
	}
	return c, nil
}

// enqueueAll returns a handler of events for Services and Ingresses alike, since an Ingress has the name of its
// Service. So any change of an Ingress, that of another owner too, brings the Service up that may want this name. The
// events only say where to look: a pass reads what there is, so that it does not matter how many events were folded
// into one key, or missed.
func (c *Controller) enqueueAll() cache.ResourceEventHandlerFuncs {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    c.enqueue,
		UpdateFunc: func(_, changed any) { c.enqueue(changed) },
		DeleteFunc: c.enqueue,
	}
}

// enqueue adds the key of an object, or of the tombstone of one whose deletion was missed, without a delay: only
// failures are delayed.
func (c *Controller) enqueue(object any) {
	key, err := cache.DeletionHandlingObjectToName(object)
	if err != nil {
		klog.Background().Error(err, "An object has no name", "object", object)
		return
	}
	c.queue.Add(key)
}

// Run works until ctx ends, and returns when the workers have completed the passes that they had begun. A controller
// runs once.
func (c *Controller) Run(ctx context.Context) {
	// Deferred calls run last first: the informers stop when ctx has ended, and are waited for when the workers have
	// ended.
	ctx, cancel := context.WithCancel(ctx)
	defer c.informers.Shutdown()
	defer cancel()
	defer c.queue.ShutDown()
	c.informers.StartWithContext(ctx)
	if !c.waitForCaches(ctx) {
		return // stopped before there was anything to do
	}
	klog.FromContext(ctx).Info("Working", "workers", c.workers)
	var workers sync.WaitGroup
	for range c.workers {
		workers.Go(func() { c.work(ctx) })
	}
	<-ctx.Done()
	c.queue.ShutDown()
	workers.Wait()
}

// waitForCaches waits until the listers know all objects that there were at the start, and their keys are in the queue.
// A pass before that would take what is not listed yet for missing. It reports false if ctx has ended.
func (c *Controller) waitForCaches(ctx context.Context) bool {
	if c.informers.WaitForCacheSyncWithContext(ctx).Err != nil {
		return false
	}
	var delivered []cache.DoneChecker
	for _, handler := range c.handlers {
		delivered = append(delivered, handler.HasSyncedChecker())
	}
	return cache.WaitFor(ctx, "", delivered...)
}

// work handles one key after the other until the queue is shut down. Keys that wait then are left for the next leader.
func (c *Controller) work(ctx context.Context) {
	for {
		key, shutdown := c.queue.Get()
		if shutdown {
			return
		}
		if ctx.Err() == nil {
			c.handle(ctx, key)
		}
		c.queue.Done(key)
	}
}

// handle makes one pass, and sees to it that a failed one is repeated, with growing delays, [Retries] times.
func (c *Controller) handle(ctx context.Context, key cache.ObjectName) {
	pass, cancel := context.WithTimeout(context.WithoutCancel(ctx), passTime)
	defer cancel()
	log := klog.FromContext(ctx).WithValues("service", key)
	err := c.Sync(pass, key)
	switch {
	case err == nil:
		c.queue.Forget(key)
	case c.queue.NumRequeues(key) < Retries:
		log.Info("The pass failed and will be repeated", "reason", err)
		c.queue.AddRateLimited(key)
	default:
		log.Error(err, "The pass failed too often: the Service waits for its next change")
		c.queue.Forget(key)
	}
}
