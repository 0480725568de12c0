package controllers

import (
	"context"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"

	"github.com/slipway-dev/slipway/cluster/informed"
)

// factory gives informers of any resource: the shared typed ones where there are
// types, metadata ones elsewhere. It is an informerfactory.InformerFactory, and stands where upstream
// has that package's own, which cannot tell which informers it has and keeps those of
// deleted CRDs forever.
type factory struct {
	typed    informers.SharedInformerFactory
	metadata metadata.Interface

	mu      sync.Mutex
	asked   map[schema.GroupVersionResource]informers.GenericInformer // typed ones that somebody wanted by resource
	untyped map[schema.GroupVersionResource]*untyped
}

type untyped struct {
	informers.GenericInformer
	stop         context.CancelFunc // nil until it runs
	missingSince time.Time          // zero while the resource is served
}

// absence is how long a resource must be missing before its informer is stopped. By then
// nobody uses the informer any more: the garbage collector looks at discovery when that changes,
// quotas every [quotaDiscovery].
const absence = 2 * quotaDiscovery

func newFactory(typed informers.SharedInformerFactory, client metadata.Interface) *factory {
	return &factory{
		typed: typed, metadata: client,
		asked:   map[schema.GroupVersionResource]informers.GenericInformer{},
		untyped: map[schema.GroupVersionResource]*untyped{},
	}
}

// ForResource returns the informer of a resource, which a call of Start may have to start.
func (f *factory) ForResource(resource schema.GroupVersionResource) (informers.GenericInformer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if informer, err := f.typed.ForResource(resource); err == nil {
		f.asked[resource] = informer
		return informer, nil
	}
	if u, ok := f.untyped[resource]; ok {
		u.missingSince = time.Time{}
		return borrow(u), nil
	}
	byNamespace := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
	u := &untyped{GenericInformer: metadatainformer.NewFilteredMetadataInformer(f.metadata, resource, "", resync, byNamespace, nil)}
	if err := u.Informer().SetTransform(dropManagedFields); err != nil {
		return nil, err
	}
	f.untyped[resource] = u
	return borrow(u), nil
}

// Start starts the informers that do not run yet.
func (f *factory) Start(stop <-chan struct{}) {
	f.typed.Start(stop)
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, u := range f.untyped {
		if u.stop == nil {
			var life context.Context
			life, u.stop = context.WithCancel(wait.ContextForChannel(stop))
			go u.Informer().Run(life.Done())
		}
	}
}

// served tells what the API serves now. The informers of what has been missing for long are stopped.
func (f *factory) served(lists []*metav1.APIResourceList, now time.Time) {
	present := resourceSet(lists)
	f.mu.Lock()
	defer f.mu.Unlock()
	for resource, u := range f.untyped {
		switch {
		case present[resource]:
			u.missingSince = time.Time{}
		case u.missingSince.IsZero():
			u.missingSince = now
		case now.Sub(u.missingSince) > absence:
			if u.stop != nil {
				u.stop()
			}
			delete(f.untyped, resource)
		}
	}
}

// empty says that an informer follows the resource and knows no object in the namespace.
func (f *factory) empty(resource schema.GroupVersionResource, namespace string) bool {
	f.mu.Lock()
	informer := f.asked[resource]
	if u, ok := f.untyped[resource]; ok {
		informer = u
	}
	f.mu.Unlock()
	if informer == nil || !informer.Informer().HasSynced() {
		return false
	}
	keys, err := informer.Informer().GetIndexer().IndexKeys(cache.NamespaceIndex, namespace)
	return err == nil && len(keys) == 0
}

func resourceSet(lists []*metav1.APIResourceList) map[schema.GroupVersionResource]bool {
	set := map[schema.GroupVersionResource]bool{}
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			continue
		}
		for _, r := range list.APIResources {
			set[version.WithResource(r.Name)] = true
		}
	}
	return set
}

// stores is an [informed.View].
func (f *factory) stores() informed.Stores {
	stores := informed.Typed(f.typed)
	f.mu.Lock()
	defer f.mu.Unlock()
	for resource, u := range f.untyped {
		if u.stop != nil {
			stores.Add(resource.GroupResource(), u.Informer().GetStore())
		}
	}
	return stores
}
