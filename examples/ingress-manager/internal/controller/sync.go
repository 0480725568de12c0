package controller

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	networkv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// Reasons of events.
const (
	ReasonCreated     = "IngressCreated"
	ReasonUpdated     = "IngressUpdated"
	ReasonDeleted     = "IngressDeleted"
	ReasonNotOwned    = "IngressNotOwned" // an Ingress of the Service's name has another owner
	ReasonInvalidHost = "InvalidHost"     // the annotation is no host name
	ReasonNoPort      = "NoPort"          // an Ingress leads to a TCP port, and the Service has none

	ReasonHostNotAllowed = "HostNotAllowed" // the host is not in the domain that Services may use
)

// Sync is one pass over a Service: it compares what the caches have with what should be, and makes at most one write.
// The write's event causes the next pass, which finds nothing to do.
//
// Objects of a lister are shared with all its readers: they are copied before they are changed.
func (c *Controller) Sync(ctx context.Context, key cache.ObjectName) error {
	service, err := c.services.Services(key.Namespace).Get(key.Name)
	if apierrors.IsNotFound(err) {
		return nil // its Ingress names it as owner: the garbage collector deletes that
	}
	if err != nil {
		return err
	}
	ingress, err := c.ingresses.Ingresses(key.Namespace).Get(key.Name)
	if apierrors.IsNotFound(err) {
		ingress, err = nil, nil
	}
	if err != nil || service.DeletionTimestamp != nil {
		return err
	}
	if _, wanted := service.Annotations[HostAnnotation]; !wanted {
		return c.remove(ctx, service, ingress)
	}
	return c.provide(ctx, service, ingress)
}

// provide sees to it that the Service has its Ingress. What only the user can mend is an event and no error: to repeat
// the pass would not help.
func (c *Controller) provide(ctx context.Context, service *corev1.Service, ingress *networkv1.Ingress) error {
	desired, mistake := c.desiredIngress(service)
	switch {
	case mistake != nil:
		c.recorder.Eventf(service, nil, corev1.EventTypeWarning, mistake.reason, "Provide", "%s", mistake.text)
		if ingress != nil && c.strays(ingress) {
			return c.remove(ctx, service, ingress)
		}
		return nil
	case ingress == nil:
		return c.create(ctx, service, desired)
	case ingress.DeletionTimestamp != nil || ofPredecessor(ingress, service):
		return nil // it is about to go, and that event brings the Service back here
	case !metav1.IsControlledBy(ingress, service):
		c.recorder.Eventf(service, ingress, corev1.EventTypeWarning, ReasonNotOwned, "Provide",
			"The Ingress %s exists and is not controlled by this Service: delete or rename it", ingress.Name)
		return nil
	case upToDate(ingress, desired):
		return nil
	}
	return c.update(ctx, service, ingress, desired)
}

// create never takes over an Ingress that the cache does not know yet, which a server-side apply would do. The API
// server refuses it then, and a later pass looks at what is there.
func (c *Controller) create(ctx context.Context, service *corev1.Service, desired *networkv1.Ingress) error {
	if _, err := c.client.NetworkingV1().Ingresses(service.Namespace).Create(ctx, desired, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create the Ingress: %w", err)
	}
	c.recorder.Eventf(service, desired, corev1.EventTypeNormal, ReasonCreated, "Create", "Created the Ingress %s", desired.Name)
	return nil
}

// update sets what this controller decides, and keeps what others have added: the cached resource version goes along,
// so that the API server refuses the update if the object is no longer the one that was looked at.
func (c *Controller) update(ctx context.Context, service *corev1.Service, ingress, desired *networkv1.Ingress) error {
	changed := ingress.DeepCopy()
	take(changed, desired)
	if _, err := c.client.NetworkingV1().Ingresses(service.Namespace).Update(ctx, changed, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("update the Ingress: %w", err)
	}
	c.recorder.Eventf(service, ingress, corev1.EventTypeNormal, ReasonUpdated, "Update", "Updated the Ingress %s", ingress.Name)
	return nil
}

// remove deletes the Ingress if the Service controls it, and only that very object: another of the same name may have
// taken its place.
func (c *Controller) remove(ctx context.Context, service *corev1.Service, ingress *networkv1.Ingress) error {
	if ingress == nil || ingress.DeletionTimestamp != nil || !metav1.IsControlledBy(ingress, service) {
		return nil
	}
	only := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &ingress.UID, ResourceVersion: &ingress.ResourceVersion}}
	err := c.client.NetworkingV1().Ingresses(service.Namespace).Delete(ctx, ingress.Name, only)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("delete the Ingress: %w", err)
	}
	c.recorder.Eventf(service, ingress, corev1.EventTypeNormal, ReasonDeleted, "Delete", "Deleted the Ingress %s", ingress.Name)
	return nil
}
