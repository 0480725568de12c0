package controller

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	samplev1alpha1 "example.com/sample-controller/pkg/apis/samplecontroller/v1alpha1"
)

// The indexes of the caches, so that no pass looks through all objects.
const (
	byDeployment = "deployment" // Foos by the Deployment that they name
	byFoo        = "foo"        // Deployments by the UID of the Foo that controls them
)

// index adds the indexes to the informers, which must not have started.
func (c *Controller) index(foos, deployments cache.SharedIndexInformer) error {
	err := foos.AddIndexers(cache.Indexers{byDeployment: func(object any) ([]string, error) {
		foo := object.(*samplev1alpha1.Foo)
		return []string{cache.NewObjectName(foo.Namespace, foo.Spec.DeploymentName).String()}, nil
	}})
	if err != nil {
		return fmt.Errorf("index Foos: %w", err)
	}
	err = deployments.AddIndexers(cache.Indexers{byFoo: func(object any) ([]string, error) {
		if owner := controllingFoo(object.(*appsv1.Deployment)); owner != nil {
			return []string{string(owner.UID)}, nil
		}
		return nil, nil
	}})
	if err != nil {
		return fmt.Errorf("index Deployments: %w", err)
	}
	return nil
}

// controllingFoo returns the reference to the Foo that controls a Deployment, or nil.
func controllingFoo(deployment *appsv1.Deployment) *metav1.OwnerReference {
	owner := metav1.GetControllerOf(deployment)
	if owner == nil || owner.Kind != fooKind.Kind || owner.APIVersion != samplev1alpha1.SchemeGroupVersion.String() {
		return nil
	}
	return owner
}

// enqueueFoo adds the key of a Foo, or of the tombstone of one whose deletion was missed, without a delay: only
// failures are delayed.
func (c *Controller) enqueueFoo(object any) {
	key, err := cache.DeletionHandlingObjectToName(object)
	if err != nil {
		klog.Background().Error(err, "An object has no name", "object", object)
		return
	}
	c.queue.Add(key)
}

// enqueueConcerned adds the Foo that controls a Deployment, and those that name it: they may have waited for the name
// to be free.
func (c *Controller) enqueueConcerned(object any) {
	if missed, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = missed.Obj
	}
	deployment, ok := object.(*appsv1.Deployment)
	if !ok {
		klog.Background().Error(nil, "Not a Deployment", "object", object)
		return
	}
	if owner := controllingFoo(deployment); owner != nil {
		c.queue.Add(cache.NewObjectName(deployment.Namespace, owner.Name))
	}
	named, err := c.fooIndex.ByIndex(byDeployment, cache.MetaObjectToName(deployment).String())
	if err != nil {
		klog.Background().Error(err, "Foos cannot be looked up", "deployment", cache.MetaObjectToName(deployment))
		return
	}
	for _, foo := range named {
		c.enqueueFoo(foo)
	}
}
