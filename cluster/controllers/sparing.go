package controllers

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
)

// sparing is a metadata client that does not ask for the deletion of collections that are empty,
// as far as informers know. It is for the namespace controller's deleter, which deletes the collection of every
// resource there is and then lists it to be sure. An informer that lags behind shows
// in that list, and the deletion is tried again.
type sparing struct {
	metadata.Interface
	empty func(resource schema.GroupVersionResource, namespace string) bool
}

func (s sparing) Resource(resource schema.GroupVersionResource) metadata.Getter {
	return sparingGetter{Getter: s.Interface.Resource(resource), resource: resource, empty: s.empty}
}

type sparingGetter struct {
	metadata.Getter
	resource schema.GroupVersionResource
	empty    func(resource schema.GroupVersionResource, namespace string) bool
}

func (g sparingGetter) Namespace(namespace string) metadata.ResourceInterface {
	empty := func() bool { return g.empty(g.resource, namespace) }
	return sparingCollection{ResourceInterface: g.Getter.Namespace(namespace), empty: empty}
}

type sparingCollection struct {
	metadata.ResourceInterface
	empty func() bool
}

func (c sparingCollection) DeleteCollection(ctx context.Context, options metav1.DeleteOptions, list metav1.ListOptions) error {
	if c.empty() {
		return nil
	}
	return c.ResourceInterface.DeleteCollection(ctx, options, list)
}
