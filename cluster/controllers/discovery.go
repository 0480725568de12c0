package controllers

import (
	"context"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/tools/cache"
)

const (
	// discoveryPause lies between two looks while a change is on its way from a
	// CRD to the discovery documents, discoveryWindow bounds that way.
	discoveryPause  = 25 * time.Millisecond
	discoveryWindow = 3 * time.Second
	// discoveryRefresh is upstream's period: one look in any case.
	discoveryRefresh = 30 * time.Second
)

// crdResource is the kind CustomResourceDefinition.
var crdResource = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// resourceSources are the kinds whose objects add resources to the API.
var resourceSources = []schema.GroupVersionResource{
	crdResource,
	{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"},
}

// changedDiscovery answers the question for the preferred resources when there is a
// new answer, instead of at once. A loop that polls it (the garbage collector's)
// thereby notices a new CRD within milliseconds and costs nothing meanwhile.
// It is for the use of one goroutine.
type changedDiscovery struct {
	discovery.ServerResourcesInterface
	discovery.ServerResourcesInterfaceWithContext

	served  func(lists []*metav1.APIResourceList, now time.Time) // is told every whole answer
	changed chan struct{}                                        // holds one token per batch of changes
	active  time.Time                                            // until then look often
	last    []string
	told    time.Time
}

// newChangedDiscovery watches the informers of d, which are not running yet.
func newChangedDiscovery(d *Deps, client discovery.DiscoveryInterface) (*changedDiscovery, error) {
	c := &changedDiscovery{
		ServerResourcesInterface:            client,
		ServerResourcesInterfaceWithContext: discovery.ToServerResourcesInterfaceWithContext(client),
		served:                              d.factory.served,
		changed:                             make(chan struct{}, 1),
	}
	handler := cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { c.notify() },
		UpdateFunc: func(any, any) { c.notify() },
		DeleteFunc: func(any) { c.notify() },
	}
	for _, source := range resourceSources {
		informer, err := d.Generic.ForResource(source)
		if err != nil {
			return nil, err
		}
		if _, err := informer.Informer().AddEventHandler(handler); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func (c *changedDiscovery) notify() {
	select {
	case c.changed <- struct{}{}:
	default: // one is waiting already
	}
}

// ServerPreferredResourcesWithContext returns an answer that differs from the last
// one, an error, or after [discoveryRefresh] whatever there is.
func (c *changedDiscovery) ServerPreferredResourcesWithContext(ctx context.Context) ([]*metav1.APIResourceList, error) {
	for {
		lists, err := c.ServerResourcesInterfaceWithContext.ServerPreferredResourcesWithContext(ctx)
		if err == nil {
			c.served(lists, time.Now())
		}
		now := resourceNames(lists)
		if err != nil || !slices.Equal(now, c.last) || time.Since(c.told) > discoveryRefresh {
			c.last, c.told = now, time.Now()
			return lists, err
		}
		if err := c.pause(ctx); err != nil {
			return nil, err
		}
	}
}

// pause waits for a change, or a moment when there was one just now.
func (c *changedDiscovery) pause(ctx context.Context) error {
	wait := discoveryRefresh
	if time.Now().Before(c.active) {
		wait = discoveryPause
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-c.changed:
		c.active = time.Now().Add(discoveryWindow)
	case <-timer.C:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

func resourceNames(lists []*metav1.APIResourceList) []string {
	var names []string
	for _, list := range lists {
		for _, r := range list.APIResources {
			names = append(names, list.GroupVersion+"/"+r.Name)
		}
	}
	slices.Sort(names)
	return names
}
