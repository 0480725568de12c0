package controllers

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
)

var errStays = errors.New("its namespace is not being deleted")

// sparing is a metadata client that does not ask for the deletion of collections that are empty, as far as informers
// know. It is for the namespace controller's deleter, which deletes the collection of every resource there is and then
// lists it to be sure. An informer that lags behind shows in that list, and the deletion is tried again. Nor does it
// ask for a deletion in a namespace that is not going any more: the deleter looks that up once, before it works through
// all resources, and a reset may bring a namespace back meanwhile.
type sparing struct {
	metadata.Interface
	empty func(resource schema.GroupVersionResource, namespace string) bool
	going func(ctx context.Context, namespace string) (bool, error)
}

func (s sparing) Resource(resource schema.GroupVersionResource) metadata.Getter {
	return sparingGetter{s.Interface.Resource(resource), resource, s}
}

type sparingGetter struct {
	metadata.Getter
	resource schema.GroupVersionResource
	all      sparing
}

func (g sparingGetter) Namespace(namespace string) metadata.ResourceInterface {
	return sparingCollection{g.Getter.Namespace(namespace), g.resource, namespace, g.all}
}

type sparingCollection struct {
	metadata.ResourceInterface
	resource  schema.GroupVersionResource
	namespace string
	all       sparing
}

func (c sparingCollection) DeleteCollection(ctx context.Context, options metav1.DeleteOptions, list metav1.ListOptions) error {
	if c.all.empty(c.resource, c.namespace) {
		return nil
	}
	if going, err := c.all.going(ctx, c.namespace); err != nil {
		return err
	} else if !going {
		return apierrors.NewConflict(c.resource.GroupResource(), c.namespace, errStays)
	}
	return c.ResourceInterface.DeleteCollection(ctx, options, list)
}
