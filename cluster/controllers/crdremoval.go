package controllers

import (
	"context"
	"errors"
	"slices"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	clientset "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/typed/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
)

var errObjectsLeft = errors.New("objects are left")

// crdRemoval lets deleted CRDs go as soon as their last object is gone. It has no
// counterpart upstream, where the API server (apiextensions-apiserver, crd_finalizer.go)
// looks once right after it has deleted the objects and then every five seconds: whoever has a
// finalizer on his objects waits that long.
type crdRemoval struct {
	crds     clientset.CustomResourceDefinitionInterface
	metadata metadata.Interface
}

func newCRDRemoval(_ context.Context, d *Deps) (Loop, error) {
	const name = "crd-removal-controller"
	client, err := crdClient(d, name)
	if err != nil {
		return nil, err
	}
	r := &crdRemoval{crds: client, metadata: d.metadata}
	return watchCRDs(d, newPollingQueue(name, r.finish), func(crd metav1.Object) bool {
		return crd.GetDeletionTimestamp() != nil && slices.Contains(crd.GetFinalizers(), apiextensions.CustomResourceCleanupFinalizer)
	})
}

// finish removes the finalizer of a deleted CRD once the API server has deleted its objects
// and none is left. From then on none can be created, either.
func (r *crdRemoval) finish(ctx context.Context, name string) error {
	crd, err := r.crds.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return ignoreNotFound(err)
	}
	version := servedVersion(crd)
	if !deletesObjects(crd) || version == "" {
		return nil // its next change brings it back
	}
	resource := schema.GroupVersionResource{Group: crd.Spec.Group, Version: version, Resource: crd.Status.AcceptedNames.Plural}
	list, err := r.metadata.Resource(resource).List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return err
	}
	if len(list.Items) > 0 {
		return errObjectsLeft
	}
	crd.Finalizers = slices.DeleteFunc(crd.Finalizers, func(f string) bool { return f == apiextensions.CustomResourceCleanupFinalizer })
	_, err = r.crds.UpdateStatus(ctx, crd, metav1.UpdateOptions{})
	if apierrors.IsConflict(err) {
		return nil // it has changed, which brings it back
	}
	return ignoreNotFound(err)
}

// deletesObjects says whether the API server has begun to delete the objects of the CRD.
func deletesObjects(crd *apiextensions.CustomResourceDefinition) bool {
	return slices.Contains(crd.Finalizers, apiextensions.CustomResourceCleanupFinalizer) &&
		slices.ContainsFunc(crd.Status.Conditions, func(c apiextensions.CustomResourceDefinitionCondition) bool {
			return c.Type == apiextensions.Terminating && c.Status == apiextensions.ConditionTrue
		})
}

func servedVersion(crd *apiextensions.CustomResourceDefinition) string {
	for _, v := range crd.Spec.Versions {
		if v.Served {
			return v.Name
		}
	}
	return ""
}
