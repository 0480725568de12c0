package controllers

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
)

var errSolidOwner = errors.New("its owner exists")

// solidOwners is the garbage collector's client. It refuses, as a lost race, to delete an object of which an owner is
// there and stays.
//
// The collector remembers which owners are gone, by UID, and does not ask for these again: a UID never comes back. With
// a reset it does.
type solidOwners struct {
	metadata.Interface
	mapper meta.RESTMapper
}

// Resource is the client for one resource.
func (s solidOwners) Resource(resource schema.GroupVersionResource) metadata.Getter {
	all := s.Interface.Resource(resource)
	return ownedGetter{all, owned{all, resource, "", s}}
}

type ownedGetter struct {
	metadata.Getter
	owned owned
}

// Namespace is the client for what lies in a namespace; an empty name stands for what lies in none.
func (g ownedGetter) Namespace(namespace string) metadata.ResourceInterface {
	g.owned.ResourceInterface, g.owned.namespace = g.Getter.Namespace(namespace), namespace
	return g.owned
}

// Delete deletes what lies in no namespace.
func (g ownedGetter) Delete(ctx context.Context, name string, options metav1.DeleteOptions, subresources ...string) error {
	return g.owned.Delete(ctx, name, options, subresources...)
}

type owned struct {
	metadata.ResourceInterface
	resource  schema.GroupVersionResource
	namespace string
	all       solidOwners
}

// Delete deletes an object without an owner that stays.
func (o owned) Delete(ctx context.Context, name string, options metav1.DeleteOptions, subresources ...string) error {
	object, err := o.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	for _, owner := range object.OwnerReferences {
		if o.all.stays(ctx, o.namespace, owner) {
			return apierrors.NewConflict(o.resource.GroupResource(), name, errSolidOwner)
		}
	}
	return o.ResourceInterface.Delete(ctx, name, options, subresources...)
}

// stays says whether an owner of an object in the namespace is there and is not being deleted.
func (s solidOwners) stays(ctx context.Context, namespace string, ref metav1.OwnerReference) bool {
	kind := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind)
	mapping, err := s.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return false // the API does not have such owners
	}
	if mapping.Scope.Name() == meta.RESTScopeNameRoot {
		namespace = ""
	}
	owner, err := s.Interface.Resource(mapping.Resource).Namespace(namespace).Get(ctx, ref.Name, metav1.GetOptions{})
	return err == nil && owner.UID == ref.UID && owner.DeletionTimestamp == nil
}
