package prove

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

// fieldManager is that of the users whom a scenario stands for.
const fieldManager = "slipway-prove"

// Kinds says where the objects of a kind are.
type Kinds map[schema.GroupKind]Place

// A Place is a resource, in the version that the server prefers.
type Place struct {
	Resource   string
	Version    string
	Namespaced bool
}

// execLimit bounds a command of a step that has no patience of its own.
const execLimit = 30 * time.Second

// A driver does what users do.
type driver struct {
	client dynamic.Interface
	kinds  Kinds
	exec   func(ctx context.Context, words []string) error
}

// at is where an object is, or is to be.
func (d driver) at(object map[string]any) (client dynamic.ResourceInterface, o *unstructured.Unstructured, err error) {
	o = (&unstructured.Unstructured{Object: object}).DeepCopy()
	kind := o.GroupVersionKind()
	place, ok := d.kinds[kind.GroupKind()]
	if !ok {
		return nil, nil, fmt.Errorf("the cluster has no kind %s of %s", kind.Kind, kind.GroupVersion())
	}
	resources := d.client.Resource(kind.GroupVersion().WithResource(place.Resource))
	if !place.Namespaced {
		return resources, o, nil
	}
	if o.GetNamespace() == "" {
		o.SetNamespace(metav1.NamespaceDefault)
	}
	return resources.Namespace(o.GetNamespace()), o, nil
}

// do carries out a step. What is to be deleted may be gone.
func (d driver) do(ctx context.Context, s Step) error {
	verb, object := s.what()
	if verb == "exec" {
		limit := cmp.Or(s.Patience, execLimit)
		ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("%s: it has not ended within %s", s.Exec[0], limit))
		defer cancel()
		return d.exec(ctx, s.Exec)
	}
	client, o, err := d.at(object)
	if err != nil {
		return err
	}
	switch verb {
	case "apply":
		_, err = client.Apply(ctx, o.GetName(), o, metav1.ApplyOptions{FieldManager: fieldManager, Force: true})
	case "patch":
		patch, bad := json.Marshal(s.Fields())
		if bad != nil {
			return bad
		}
		_, err = client.Patch(ctx, o.GetName(), types.MergePatchType, patch, metav1.PatchOptions{FieldManager: fieldManager})
	case "scale":
		patch := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, s.Scale.Replicas)
		_, err = client.Patch(ctx, o.GetName(), types.MergePatchType, patch, metav1.PatchOptions{FieldManager: fieldManager}, "scale")
	default:
		background := metav1.DeletePropagationBackground
		err = client.Delete(ctx, o.GetName(), metav1.DeleteOptions{PropagationPolicy: &background})
		if apierrors.IsNotFound(err) {
			err = nil
		}
	}
	return err
}

// resourceOf is that of an object; empty if the cluster has no such kind.
func (d driver) resourceOf(object map[string]any) resource {
	kind := (&unstructured.Unstructured{Object: object}).GroupVersionKind()
	place, ok := d.kinds[kind.GroupKind()]
	if !ok {
		return resource{}
	}
	return resource{kind.Group, place.Resource}
}

// identity is what names an object.
func identity(object map[string]any) map[string]any {
	return map[string]any{"apiVersion": object["apiVersion"], "kind": object["kind"], "metadata": map[string]any{"namespace": metadata(object, "namespace"), "name": metadata(object, "name")}}
}

// named is what names the object that a request is about; nil if that is not known.
func (d driver) named(at Point) map[string]any {
	for kind, place := range d.kinds {
		if kind.Group == at.Group && place.Resource == at.Resource {
			version := schema.GroupVersion{Group: kind.Group, Version: place.Version}
			return map[string]any{"apiVersion": version.String(), "kind": kind.Kind, "metadata": map[string]any{"namespace": at.Namespace, "name": at.Name}}
		}
	}
	return nil
}

// poke has another client write an object, so that its operator looks at it again: only who has written what changes.
func (d driver) poke(ctx context.Context, object map[string]any) {
	client, o, err := d.at(object)
	if err != nil {
		return
	}
	now, err := client.Get(ctx, o.GetName(), metav1.GetOptions{})
	if err != nil {
		return // it is gone
	}
	at := metav1.Now()
	poked := &unstructured.Unstructured{}
	poked.SetResourceVersion(now.GetResourceVersion())
	poked.SetManagedFields(append(now.GetManagedFields(), metav1.ManagedFieldsEntry{
		Manager: fmt.Sprintf("%s-%s", fieldManager, now.GetResourceVersion()), Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: now.GetAPIVersion(),
		Time: &at, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:annotations":{}}}`),
	}))
	patch, err := json.Marshal(poked.Object)
	if err != nil {
		return
	}
	_, _ = client.Patch(ctx, o.GetName(), types.MergePatchType, patch, metav1.PatchOptions{FieldManager: fieldManager}) // others may write at the same time
}
