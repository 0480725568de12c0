package controllers

import (
	"context"
	"sync"
	"time"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

// borrowed is an informer in the hands of one controller, who may give it back.
//
// Upstream's garbage collector and its quota monitor add a handler for every resource and never remove it, also when
// the resource goes: each CRD that is deleted and made again would cost one more, with its goroutines. What they do
// when a resource goes is to end the controller that the informer gave them, which means nothing to a shared informer.
// Here it means that the informer is given back.
type borrowed struct {
	informers.GenericInformer
	informer *borrowedInformer
}

func borrow(informer informers.GenericInformer) borrowed {
	return borrowed{informer, &borrowedInformer{SharedIndexInformer: informer.Informer()}}
}

// Informer is the informer itself, which remembers the handlers that it gets.
func (b borrowed) Informer() cache.SharedIndexInformer { return b.informer }

type borrowedInformer struct {
	cache.SharedIndexInformer
	mu       sync.Mutex
	handlers []cache.ResourceEventHandlerRegistration
}

// AddEventHandler adds a handler until the informer is given back, as the methods below do.
func (b *borrowedInformer) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	return b.AddEventHandlerWithOptions(h, cache.HandlerOptions{})
}

// AddEventHandlerWithOptions is the same with options.
func (b *borrowedInformer) AddEventHandlerWithOptions(h cache.ResourceEventHandler, o cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	return b.remember(b.SharedIndexInformer.AddEventHandlerWithOptions(h, o))
}

// AddEventHandlerWithResyncPeriod is the same with a period.
func (b *borrowedInformer) AddEventHandlerWithResyncPeriod(h cache.ResourceEventHandler, period time.Duration) (cache.ResourceEventHandlerRegistration, error) {
	return b.remember(b.SharedIndexInformer.AddEventHandlerWithResyncPeriod(h, period))
}

// GetController gives a controller whose end gives the informer back.
func (b *borrowedInformer) GetController() cache.Controller {
	return borrowedController{b.SharedIndexInformer.GetController(), b}
}

func (b *borrowedInformer) remember(r cache.ResourceEventHandlerRegistration, err error) (cache.ResourceEventHandlerRegistration, error) {
	if err == nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.handlers = append(b.handlers, r)
	}
	return r, err
}

func (b *borrowedInformer) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, h := range b.handlers {
		_ = b.RemoveEventHandler(h) // fails for those that are not there any more
	}
	b.handlers = nil
}

type borrowedController struct {
	cache.Controller
	informer *borrowedInformer
}

// Run lasts until stop is closed.
func (c borrowedController) Run(stop <-chan struct{}) {
	<-stop
	c.informer.end()
}

// RunWithContext lasts until ctx ends.
func (c borrowedController) RunWithContext(ctx context.Context) { c.Run(ctx.Done()) }
