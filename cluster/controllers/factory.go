package controllers

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"

	"github.com/slipway-dev/slipway/cluster/informed"
)

// factory gives informers of any resource: the shared typed ones where there are
// types, metadata ones elsewhere. It is an informerfactory.InformerFactory, and stands where upstream
// has that package's own, which cannot tell which informers it has.
type factory struct {
	typed    informers.SharedInformerFactory
	metadata metadata.Interface

	mu      sync.Mutex
	untyped map[schema.GroupVersionResource]*untyped
}

type untyped struct {
	informers.GenericInformer
	running bool
}

func newFactory(typed informers.SharedInformerFactory, client metadata.Interface) *factory {
	return &factory{typed: typed, metadata: client, untyped: map[schema.GroupVersionResource]*untyped{}}
}

// ForResource returns the informer of a resource, which a call of Start may have to start.
func (f *factory) ForResource(resource schema.GroupVersionResource) (informers.GenericInformer, error) {
	if informer, err := f.typed.ForResource(resource); err == nil {
		return informer, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if u, ok := f.untyped[resource]; ok {
		return u, nil
	}
	byNamespace := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
	u := &untyped{GenericInformer: metadatainformer.NewFilteredMetadataInformer(f.metadata, resource, "", resync, byNamespace, nil)}
	if err := u.Informer().SetTransform(dropManagedFields); err != nil {
		return nil, err
	}
	f.untyped[resource] = u
	return u, nil
}

// Start starts the informers that do not run yet.
func (f *factory) Start(stop <-chan struct{}) {
	f.typed.Start(stop)
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, u := range f.untyped {
		if !u.running {
			u.running = true
			go u.Informer().Run(stop)
		}
	}
}

// stores is an [informed.View].
func (f *factory) stores() informed.Stores {
	stores := informed.Typed(f.typed)
	f.mu.Lock()
	defer f.mu.Unlock()
	for resource, u := range f.untyped {
		if u.running {
			stores.Add(resource.GroupResource(), u.Informer().GetStore())
		}
	}
	return stores
}
