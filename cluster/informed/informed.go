// Package informed shows what the informers inside a cluster's parts know, for those
// who changed the cluster behind the parts' backs and want to wait until they noticed.
//
//	stores := view()
//	for _, revision := range stores.Revisions(resource, namespace, name) {
//		if revision < wanted { … } // one of the informers is behind
//	}
package informed

import (
	"reflect"
	"strconv"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"
)

// Stores are the stores of running informers by the resource that they follow; there are
// several where several parts follow it. They are for reading only.
type Stores map[schema.GroupResource][]cache.Store

// A View finds the informers that run at the moment: they come and go with CRDs.
type View func() Stores

// Typed finds the running informers of a factory.
func Typed(factory informers.SharedInformerFactory) Stores {
	stopped := make(chan struct{})
	close(stopped) // so that the factory tells its informers' types and does not wait
	stores := Stores{}
	for kind := range factory.WaitForCacheSync(stopped) {
		object, ok := reflect.New(kind.Elem()).Interface().(runtime.Object)
		if !ok {
			continue
		}
		kinds, _, err := scheme.Scheme.ObjectKinds(object)
		if err != nil {
			continue
		}
		resource, _ := meta.UnsafeGuessKindToResource(kinds[0])
		if informer, err := factory.ForResource(resource); err == nil {
			stores.Add(resource.GroupResource(), informer.Informer().GetStore())
		}
	}
	return stores
}

// Add adds one more store.
func (s Stores) Add(resource schema.GroupResource, store cache.Store) {
	s[resource] = append(s[resource], store)
}

// Revisions returns which revision of an object each informer of its resource holds; 0
// where the object is unknown. namespace is empty for objects that have none.
func (s Stores) Revisions(resource schema.GroupResource, namespace, name string) []int64 {
	key := cache.NewObjectName(namespace, name).String()
	revisions := make([]int64, len(s[resource]))
	for i, store := range s[resource] {
		revisions[i] = revision(store, key)
	}
	return revisions
}

func revision(store cache.Store, key string) int64 {
	object, known, err := store.GetByKey(key)
	if err != nil || !known {
		return 0
	}
	o, err := meta.Accessor(object)
	if err != nil {
		return 0
	}
	n, err := strconv.ParseInt(o.GetResourceVersion(), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
