// Package controller gives each Foo the Deployment that it names, and reports in the Foo's status how that stands.
//
// It uses the clientset, informers and listers that are generated from the types in pkg/apis, beside client-go's own
// for Deployments, in the same way: see [Controller.Run].
package controller

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	appslisters "k8s.io/client-go/listers/apps/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"example.com/sample-controller/pkg/generated/clientset/versioned"
	"example.com/sample-controller/pkg/generated/informers/externalversions"
	foolisters "example.com/sample-controller/pkg/generated/listers/samplecontroller/v1alpha1"
)

const (
	// Retries is how often a failed pass over a Foo is repeated. With the queue's usual delays, from five milliseconds
	// and doubled each time, that is more than a minute. Afterwards the Foo waits for its next change, or for the
	// informers' resync.
	Retries = 15

	// passTime bounds one pass, also that which a stopped controller has begun. A leader that has lost its lease knows
	// it five seconds before another may take the lease.
	passTime = 5 * time.Second
)

// Options are what a controller is made of.
type Options struct {
	Kube          kubernetes.Interface
	Foos          versioned.Interface
	KubeInformers informers.SharedInformerFactory
	FooInformers  externalversions.SharedInformerFactory
	Recorder      events.EventRecorder
	Clock         clock.PassiveClock

	// Image is what the pods of Deployments run.
	Image string

	// Workers is how many Foos are worked on at the same time. One key is never with two workers.
	Workers int

	// Limiter delays the repetition of failed passes; nil is client-go's usual one.
	Limiter workqueue.TypedRateLimiter[cache.ObjectName]
}

// Controller is the control loop. Use [New].
type Controller struct {
	Options

	foos            foolisters.FooLister
	deployments     appslisters.DeploymentLister
	fooIndex        cache.Indexer
	deploymentIndex cache.Indexer
	handlers        []cache.ResourceEventHandlerRegistration
	queue           workqueue.TypedRateLimitingInterface[cache.ObjectName]
}

// New returns a controller that has registered with the informers. It works when [Controller.Run] is called.
func New(o Options) (*Controller, error) {
	if o.Limiter == nil {
		o.Limiter = workqueue.DefaultTypedControllerRateLimiter[cache.ObjectName]()
	}
	foos, deployments := o.FooInformers.Samplecontroller().V1alpha1().Foos(), o.KubeInformers.Apps().V1().Deployments()
	c := &Controller{
		Options:         o,
		foos:            foos.Lister(),
		deployments:     deployments.Lister(),
		fooIndex:        foos.Informer().GetIndexer(),
		deploymentIndex: deployments.Informer().GetIndexer(),
		queue:           workqueue.NewTypedRateLimitingQueue(o.Limiter),
	}
	if err := c.index(foos.Informer(), deployments.Informer()); err != nil {
		return nil, err
	}
	if err := c.handle(foos.Informer(), c.enqueueFoo); err != nil {
		return nil, err
	}
	return c, c.handle(deployments.Informer(), c.enqueueConcerned)
}

// handle has enqueue called for each object of an informer that comes, changes or goes. The events only say where to
// look: a pass reads what there is, so that it does not matter how many events were folded into one key, or missed.
func (c *Controller) handle(informer cache.SharedIndexInformer, enqueue func(any)) error {
	handler, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    enqueue,
		UpdateFunc: func(_, changed any) { enqueue(changed) },
		DeleteFunc: enqueue,
	})
	if err != nil {
		return fmt.Errorf("register with an informer: %w", err)
	}
	c.handlers = append(c.handlers, handler)
	return nil
}

// Run works until ctx ends, and returns when the workers have completed the passes that they had begun. A controller
// runs once.
func (c *Controller) Run(ctx context.Context) {
	// Deferred calls run last first: the informers stop when ctx has ended, and are waited for when the workers have
	// ended.
	ctx, cancel := context.WithCancel(ctx)
	defer c.KubeInformers.Shutdown()
	defer c.FooInformers.Shutdown()
	defer cancel()
	defer c.queue.ShutDown()
	if !c.Listen(ctx) {
		return // stopped before there was anything to do
	}
	klog.FromContext(ctx).Info("Working", "workers", c.Workers)
	var workers sync.WaitGroup
	for range c.Workers {
		workers.Go(func() { c.work(ctx) })
	}
	<-ctx.Done()
	c.queue.ShutDown()
	workers.Wait()
}

// Listen starts the informers, until ctx ends, and waits until the listers know all objects that there are, and their
// keys are in the queue. A pass before that would take what is not listed yet for missing. It reports false if ctx has
// ended.
func (c *Controller) Listen(ctx context.Context) bool {
	c.KubeInformers.StartWithContext(ctx)
	c.FooInformers.StartWithContext(ctx)
	var delivered []cache.DoneChecker
	for _, handler := range c.handlers {
		delivered = append(delivered, handler.HasSyncedChecker())
	}
	return cache.WaitFor(ctx, "", delivered...)
}

// work passes over one Foo after the other until the queue is shut down. Keys that wait then are left for the next
// leader.
func (c *Controller) work(ctx context.Context) {
	for {
		key, shutdown := c.queue.Get()
		if shutdown {
			return
		}
		if ctx.Err() == nil {
			c.pass(ctx, key)
		}
		c.queue.Done(key)
	}
}

// pass makes one pass, and sees to it that a failed one is repeated, with growing delays, [Retries] times.
func (c *Controller) pass(ctx context.Context, key cache.ObjectName) {
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), passTime)
	defer cancel()
	log := klog.FromContext(ctx).WithValues("foo", key)
	err := c.Sync(bounded, key)
	switch {
	case err == nil:
		c.queue.Forget(key)
	case c.queue.NumRequeues(key) < Retries:
		log.Info("The pass failed and will be repeated", "reason", err)
		c.queue.AddRateLimited(key)
	default:
		log.Error(err, "The pass failed too often: the Foo waits for its next change")
		c.queue.Forget(key)
	}
}
