package ship

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/slipway-dev/slipway/internal/report"
)

// DeleteOptions are the choices of [Cluster.Delete].
type DeleteOptions struct {
	Set     *Set          // of which only members go; nil deletes by name
	Consent Consent       // to delete what others use, or what may hold data; nil does
	Timeout time.Duration // for objects to be gone; 0 means DefaultTimeout
}

// Delete removes objects, definitions first and then those that need others, and returns when they
// are gone. Each is reported as a [report.Object]; one that was not there is
// unchanged. See the package's guide.
func (c *Cluster) Delete(ctx context.Context, objects []*unstructured.Unstructured, o DeleteOptions) error {
	if err := c.Ping(ctx); err != nil {
		return err
	}
	if o.Set != nil {
		return c.remove(ctx, objects, o)
	}
	for _, group := range departures(objects) {
		if err := c.deleteAll(ctx, group, patienceOf(o.Timeout), ""); err != nil {
			return err
		}
	}
	return nil
}

// deleteAll removes objects that do not need each other: all requests first,
// then the waiting. It tells why, if that is not plain.
func (c *Cluster) deleteAll(ctx context.Context, objects []*unstructured.Unstructured, patience time.Duration, why string) error {
	if len(objects) > 0 {
		c.handler.Handle(report.Step{Name: "asking the server to delete the objects"})
	}
	var leaving []departure
	for _, object := range objects {
		d, err := c.deleteOne(ctx, object)
		if err != nil {
			return c.explainObject(ctx, object, err)
		}
		if d == nil {
			c.handler.Handle(report.Object{Name: nameOf(object), Object: refOf(object), Action: report.Unchanged, Why: "did not exist"})
			continue
		}
		leaving = append(leaving, *d)
	}
	start := time.Now()
	for _, d := range leaving {
		if err := c.waitGone(ctx, d, patience-time.Since(start)); err != nil {
			return err
		}
		c.handler.Handle(report.Object{Name: nameOf(d.object), Object: refOf(d.object), Action: report.Deleted, Why: why})
	}
	return nil
}

// departure is an object whose deletion was asked for.
type departure struct {
	resource dynamic.ResourceInterface
	object   *unstructured.Unstructured
	uid      types.UID
}

// deleteOne asks for the deletion of object; nil means that it is not there. Of an object with a UID only that
// incarnation is meant: another one may have come while the user was asked.
func (c *Cluster) deleteOne(ctx context.Context, object *unstructured.Unstructured) (*departure, error) {
	resource, object, err := c.locate(ctx, object, 0)
	if _, unserved := errors.AsType[errNoKind](err); unserved || errors.Is(err, errImpatient) {
		return nil, nil // a kind that is not served has no objects
	}
	if err != nil {
		return nil, err
	}
	live, err := existing(ctx, resource, object.GetName())
	if err != nil || live == nil || !slices.Contains([]types.UID{"", live.GetUID()}, object.GetUID()) {
		return nil, err
	}
	uid, background := live.GetUID(), metav1.DeletePropagationBackground
	err = resource.Delete(ctx, object.GetName(), metav1.DeleteOptions{
		Preconditions:     &metav1.Preconditions{UID: &uid},
		PropagationPolicy: &background,
	})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return &departure{resource, object, uid}, err
}

// reportLeaving begins the wait for an object whose deletion was asked for: a namespace goes after its pods have ended,
// and others once their finalizers are removed.
func (c *Cluster) reportLeaving(object *unstructured.Unstructured) {
	c.handler.Handle(report.Step{Name: "waiting for " + nameOf(object) + " to be deleted"})
}

// waitGone waits until the object, or at least that incarnation of it, is gone.
func (c *Cluster) waitGone(ctx context.Context, d departure, patience time.Duration) error {
	var last *unstructured.Unstructured
	err := poll(ctx, patience, func(ctx context.Context) (bool, error) {
		live, err := d.resource.Get(ctx, d.object.GetName(), metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		if err != nil || live.GetUID() != d.uid {
			return err == nil, err
		}
		if last == nil {
			c.reportLeaving(d.object)
		}
		last = live
		return false, nil
	})
	if errors.Is(err, errImpatient) {
		return c.explainLingering(ctx, last)
	}
	return c.explainObject(ctx, d.object, err)
}

// explainLingering says what keeps object from going.
func (c *Cluster) explainLingering(ctx context.Context, object *unstructured.Unstructured) error {
	e := &report.Error{
		Class: report.Timeout,
		What:  "the object is not deleted yet",
		Where: nameOf(object), Object: refOf(object),
		Hint: waitsFor(object),
	}
	if object.GetKind() == "Namespace" {
		e.Hint = fullNamespace(object)
	}
	if kindOf(object) != crdKind {
		return e
	}
	if held := c.heldInstances(ctx, object); len(held) > 0 {
		e.Hint = strings.Join(held, "\n") + "\nthe operator that set these finalizers must run to remove them"
		e.Next = "slipway run"
	}
	return e
}

// fullNamespace says what the cluster knows of a namespace that is not yet empty.
func fullNamespace(namespace *unstructured.Unstructured) string {
	all := conditions(namespace)
	if len(all) == 0 {
		return "no controller has seen it: a control plane without controllers, such as envtest's, removes no namespaces"
	}
	var lines []string
	for _, condition := range all {
		if condition.status == "True" && condition.message != "" {
			lines = append(lines, condition.message)
		}
	}
	return strings.Join(lines, "\n")
}

// maxHeld bounds how many objects an error lists.
const maxHeld = 5

// heldInstances lists objects of a definition that wait for finalizers. It is
// for an explanation, which is given without them where they cannot be had.
func (c *Cluster) heldInstances(ctx context.Context, definition *unstructured.Unstructured) []string {
	var held []string
	for _, resource := range servedResources(definition) {
		list, err := c.objects.Resource(resource).List(ctx, metav1.ListOptions{Limit: maxHeld})
		if err != nil {
			continue
		}
		for _, object := range list.Items {
			if len(object.GetFinalizers()) > 0 {
				held = append(held, nameOf(&object)+" "+waitsFor(&object))
			}
		}
		break
	}
	return held
}

// waitsFor names the finalizers of object.
func waitsFor(object *unstructured.Unstructured) string {
	if len(object.GetFinalizers()) == 0 {
		return ""
	}
	return fmt.Sprintf("waits for finalizer %s", strings.Join(object.GetFinalizers(), ", "))
}

// servedResources lists where the objects of a definition are served, by version.
func servedResources(definition *unstructured.Unstructured) []schema.GroupVersionResource {
	group, _, _ := unstructured.NestedString(definition.Object, "spec", "group")
	plural, _, _ := unstructured.NestedString(definition.Object, "spec", "names", "plural")
	versions, _, _ := unstructured.NestedSlice(definition.Object, "spec", "versions")
	var served []schema.GroupVersionResource
	for _, v := range versions {
		fields, _ := v.(map[string]any)
		name, _ := fields["name"].(string)
		if ok, _ := fields["served"].(bool); ok && name != "" {
			served = append(served, schema.GroupVersionResource{Group: group, Version: name, Resource: plural})
		}
	}
	return served
}
