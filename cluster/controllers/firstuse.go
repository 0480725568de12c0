package controllers

import (
	"context"
	"time"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	clientset "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/typed/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
)

// createPause is how long the API server lets the first creation of an object
// sleep after its CRD was established.
const createPause = 2 * time.Second

// firstUse prepares new CRDs for their first use. It has no counterpart upstream; it
// takes away two pauses that the API server makes for the sake of others:
//
//   - An object that is created within two seconds after its CRD was established
//     waits for two seconds, so that all servers of a cluster know the CRD
//     (apiextensions-apiserver, customresource_handler.go). Here there is one
//     server, so the time in the condition is moved into the past.
//   - The first list starts the storage of a version and is sent away for a second
//     when that is not quick enough. So the first list is ours.
type firstUse struct {
	crds     clientset.CustomResourceDefinitionInterface
	metadata metadata.Interface
}

func newFirstUse(_ context.Context, d *Deps) (Loop, error) {
	const name = "crd-first-use-controller"
	client, err := crdClient(d, name)
	if err != nil {
		return nil, err
	}
	f := &firstUse{crds: client, metadata: d.metadata}
	return watchCRDs(d, newQueue(name, f.prepare), func(crd metav1.Object) bool { return crd.GetDeletionTimestamp() == nil })
}

// prepare does nothing for a CRD that is not established yet, for its next change
// brings it back, and nothing for one that was established a while ago.
func (f *firstUse) prepare(ctx context.Context, name string) error {
	crd, err := f.crds.Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	condition := established(crd)
	if condition == nil || time.Since(condition.LastTransitionTime.Time) > createPause {
		return nil
	}
	f.warmUp(ctx, crd) // first, since clients may be waiting for just this moment
	condition.LastTransitionTime = metav1.NewTime(time.Now().Add(-2 * createPause))
	if _, err := f.crds.UpdateStatus(ctx, crd, metav1.UpdateOptions{}); err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	return nil
}

func established(crd *apiextensions.CustomResourceDefinition) *apiextensions.CustomResourceDefinitionCondition {
	for i, c := range crd.Status.Conditions {
		if c.Type == apiextensions.Established && c.Status == apiextensions.ConditionTrue {
			return &crd.Status.Conditions[i]
		}
	}
	return nil
}

// warmUp lists each version once. What the answer is does not matter.
func (f *firstUse) warmUp(ctx context.Context, crd *apiextensions.CustomResourceDefinition) {
	for _, v := range crd.Spec.Versions {
		if v.Served {
			resource := schema.GroupVersionResource{Group: crd.Spec.Group, Version: v.Name, Resource: crd.Spec.Names.Plural}
			_, _ = f.metadata.Resource(resource).List(ctx, metav1.ListOptions{Limit: 1})
		}
	}
}
