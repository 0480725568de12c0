package controller

import (
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	samplev1alpha1 "example.com/sample-controller/pkg/apis/samplecontroller/v1alpha1"
)

// Reasons of events. That of a refused Deployment is [samplev1alpha1.ReasonNotOwned], as in the status.
const (
	ReasonCreated = "DeploymentCreated"
	ReasonUpdated = "DeploymentUpdated"
	ReasonDeleted = "DeploymentDeleted"
)

// errNotOwned is returned for a Deployment that a Foo names and does not control.
var errNotOwned = errors.New("the Deployment is not controlled by this Foo")

// Sync is one pass over a Foo: it brings its Deployment to what the spec says, deletes that of a former name, and then
// writes the status if it has changed. Objects of a lister are shared with all its readers: they are copied before they
// are changed.
func (c *Controller) Sync(ctx context.Context, key cache.ObjectName) error {
	foo, err := c.foos.Foos(key.Namespace).Get(key.Name)
	if apierrors.IsNotFound(err) {
		return nil // its Deployment names it as owner: the garbage collector deletes that
	}
	if err != nil || foo.DeletionTimestamp != nil {
		return err
	}
	deployment, err := c.provide(ctx, foo)
	if errors.Is(err, errNotOwned) {
		return c.refuse(ctx, foo)
	}
	if err != nil {
		return err
	}
	// A pass that cannot delete the old Deployment reports how the new one is, all the same.
	return errors.Join(c.deleteFormer(ctx, foo), c.writeStatus(ctx, foo, statusOf(foo, deployment, c.Clock.Now())))
}

// provide returns the Deployment of a Foo as it is after it was created, changed, or found to be as it should be.
func (c *Controller) provide(ctx context.Context, foo *samplev1alpha1.Foo) (*appsv1.Deployment, error) {
	desired := desiredDeployment(foo, c.Image)
	deployment, err := c.deployments.Deployments(foo.Namespace).Get(foo.Spec.DeploymentName)
	switch {
	case apierrors.IsNotFound(err):
		return c.create(ctx, foo, desired)
	case err != nil:
		return nil, err
	case !metav1.IsControlledBy(deployment, foo):
		return nil, errNotOwned
	case deployment.DeletionTimestamp != nil || upToDate(deployment, desired):
		return deployment, nil // when one that is being deleted has gone, that event brings the Foo back here
	}
	return c.update(ctx, foo, deployment, desired)
}

// create never takes over a Deployment that the cache does not know yet, which a server-side apply would do. The API
// server refuses it then, and a later pass looks at what is there.
func (c *Controller) create(ctx context.Context, foo *samplev1alpha1.Foo, desired *appsv1.Deployment) (*appsv1.Deployment, error) {
	made, err := c.Kube.AppsV1().Deployments(foo.Namespace).Create(ctx, desired, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("create the Deployment: %w", err)
	}
	c.Recorder.Eventf(foo, made, corev1.EventTypeNormal, ReasonCreated, "Create", "Created the Deployment %s", made.Name)
	return made, nil
}

// update sets what this controller decides, and keeps what others have added: the cached resource version goes along,
// so that the API server refuses the update if the object is no longer the one that was looked at.
func (c *Controller) update(ctx context.Context, foo *samplev1alpha1.Foo, deployment, desired *appsv1.Deployment) (*appsv1.Deployment, error) {
	changed := deployment.DeepCopy()
	take(changed, desired)
	updated, err := c.Kube.AppsV1().Deployments(foo.Namespace).Update(ctx, changed, metav1.UpdateOptions{})
	if err != nil {
		return nil, fmt.Errorf("update the Deployment: %w", err)
	}
	c.Recorder.Eventf(foo, updated, corev1.EventTypeNormal, ReasonUpdated, "Update",
		"Updated the Deployment %s to %d replicas", updated.Name, *updated.Spec.Replicas)
	return updated, nil
}

// deleteFormer deletes the Deployments that the Foo controls under a name that it no longer has.
func (c *Controller) deleteFormer(ctx context.Context, foo *samplev1alpha1.Foo) error {
	owned, err := c.deploymentIndex.ByIndex(byFoo, string(foo.UID))
	for _, object := range owned {
		deployment := object.(*appsv1.Deployment)
		if deployment.Name != foo.Spec.DeploymentName && deployment.DeletionTimestamp == nil {
			err = errors.Join(err, c.delete(ctx, foo, deployment))
		}
	}
	return err
}

// delete deletes this very Deployment: another one of the name may have taken its place.
func (c *Controller) delete(ctx context.Context, foo *samplev1alpha1.Foo, deployment *appsv1.Deployment) error {
	background := metav1.DeletePropagationBackground
	only := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &deployment.UID}, PropagationPolicy: &background}
	err := c.Kube.AppsV1().Deployments(deployment.Namespace).Delete(ctx, deployment.Name, only)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("delete the former Deployment: %w", err)
	}
	c.Recorder.Eventf(foo, deployment, corev1.EventTypeNormal, ReasonDeleted, "Delete", "Deleted the former Deployment %s", deployment.Name)
	return nil
}

// refuse reports a Deployment that is not the Foo's: in the status, and with an event when it is news. To repeat the
// pass would not help, and is no error: an event of the Deployment brings the Foo back.
func (c *Controller) refuse(ctx context.Context, foo *samplev1alpha1.Foo) error {
	status := refusedStatus(foo, c.Clock.Now())
	if !equality.Semantic.DeepEqual(foo.Status, status) {
		c.Recorder.Eventf(foo, nil, corev1.EventTypeWarning, samplev1alpha1.ReasonNotOwned, "Provide",
			"The Deployment %s exists and is not controlled by this Foo: delete it, or give another deploymentName", foo.Spec.DeploymentName)
	}
	return c.writeStatus(ctx, foo, status)
}

// writeStatus applies a status that differs from the one in the cache. It is the only writer of these fields, so that
// no conflict can arise.
func (c *Controller) writeStatus(ctx context.Context, foo *samplev1alpha1.Foo, status samplev1alpha1.FooStatus) error {
	if equality.Semantic.DeepEqual(foo.Status, status) {
		return nil
	}
	how := metav1.ApplyOptions{FieldManager: fieldManager, Force: true}
	_, err := c.Foos.SamplecontrollerV1alpha1().Foos(foo.Namespace).ApplyStatus(ctx, applied(foo, status), how)
	if apierrors.IsNotFound(err) {
		return nil // deleted meanwhile
	}
	if err != nil {
		return fmt.Errorf("write the status: %w", err)
	}
	return nil
}
