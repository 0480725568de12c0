package ship

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/csaupgrade"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// inherit applies a member of which earlier ways to apply own fields: these become the set's own first, so that those
// that the object lacks go, and what an earlier way set does not contradict what the object says. judged is what the
// server would make of the object beside those fields, or refused why it would not. What the server refuses changes
// nothing: it judges the result first, and if it cannot, the fields are given back.
func (a *application) inherit(ctx context.Context, resource dynamic.ResourceInterface, object, before, judged *unstructured.Unstructured, refused error) (after *unstructured.Unstructured, said string, err error) {
	switch {
	case apierrors.IsInvalid(refused) && (isImmutable(refused) || a.cluster.creatable(ctx, object) != nil):
		return nil, "", refused
	case a.dry && apierrors.IsInvalid(refused):
		return nil, "", &unjudgedError{refused}
	case a.dry && refused != nil, apierrors.IsConflict(refused):
		return nil, "", refused
	case judged != nil:
		after, err = a.foresee(ctx, resource, before, judged)
	}
	if !a.dry && !apierrors.IsInvalid(err) { // another answer may be about the request
		after, err = a.bequeath(ctx, resource, object, before)
	}
	if err != nil {
		return nil, "", err
	}
	var lost []loss
	if judged != nil {
		if lost, err = losses(before, judged, a.manager()); err != nil {
			return nil, "", err
		}
	}
	gone, err := a.gone(before, after)
	return after, because(inWords("takes", "from", lost), inWords("removes", "of", gone)), err
}

// bequeath gives the set what earlier ways to apply own of an object, and applies it. If the server refuses that, they
// have their fields again.
func (a *application) bequeath(ctx context.Context, resource dynamic.ResourceInterface, object, before *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	upgraded, err := a.upgrade(ctx, resource, before)
	if err != nil {
		return nil, err
	}
	after, err := a.patch(ctx, resource, object, patching{force: a.force})
	if err == nil {
		return after, nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestLimit)
	defer cancel()
	return nil, cmp.Or(a.restore(ctx, resource, before, upgraded), err)
}

// restore gives the fields of an object back to those who had them before it was upgraded. Who changed the object since
// may have built on that, so that it stays as it is.
func (a *application) restore(ctx context.Context, resource dynamic.ResourceInterface, before, upgraded *unstructured.Unstructured) error {
	changes := []map[string]any{
		{"op": "replace", "path": "/metadata/managedFields", "value": before.GetManagedFields()},
		{"op": "replace", "path": "/metadata/resourceVersion", "value": upgraded.GetResourceVersion()},
	}
	manager := a.manager()
	if _, annotated := before.GetAnnotations()[corev1.LastAppliedConfigAnnotation]; annotated {
		manager = clientSide // owns the annotation
		changes = append(changes, map[string]any{"op": "add", "path": "/metadata/annotations", "value": before.GetAnnotations()})
	}
	patch, err := json.Marshal(changes)
	if err != nil {
		return err
	}
	_, err = resource.Patch(ctx, before.GetName(), types.JSONPatchType, patch, metav1.PatchOptions{FieldManager: manager})
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// An unjudgedError is the refusal of an object beside fields of earlier ways to apply, which go before it is applied.
type unjudgedError struct{ error }

func (e *unjudgedError) Unwrap() error { return e.error }

// upgrade gives the set what earlier ways to apply own of an object, as [csaupgrade] does for client-side apply, and
// drops the annotation in which that keeps the manifest. An object that another client changes meanwhile, as
// controllers do while pods come and go, is read again.
func (a *application) upgrade(ctx context.Context, resource dynamic.ResourceInterface, live *unstructured.Unstructured) (upgraded *unstructured.Unstructured, err error) {
	name := live.GetName()
	err = poll(ctx, a.patience, func(ctx context.Context) (bool, error) {
		entries, err := a.inherited(live)
		if err != nil {
			return false, err
		}
		changes := []map[string]any{
			{"op": "replace", "path": "/metadata/managedFields", "value": entries},
			{"op": "replace", "path": "/metadata/resourceVersion", "value": live.GetResourceVersion()},
		}
		if _, annotated := live.GetAnnotations()[corev1.LastAppliedConfigAnnotation]; annotated {
			changes = append(changes, map[string]any{"op": "remove", "path": "/metadata/annotations/kubectl.kubernetes.io~1last-applied-configuration"})
		}
		patch, err := json.Marshal(changes)
		if err != nil {
			return false, err
		}
		upgraded, err = resource.Patch(ctx, name, types.JSONPatchType, patch, metav1.PatchOptions{FieldManager: a.manager()})
		if !apierrors.IsConflict(err) {
			return true, err
		}
		live, err = resource.Get(ctx, name, metav1.GetOptions{})
		return false, err
	})
	return upgraded, err
}

// inherited are the managed fields of an object after the set has inherited those of earlier ways to apply. Entries of
// server-side apply are upgraded as if they were of client-side apply.
func (a *application) inherited(live *unstructured.Unstructured) ([]metav1.ManagedFieldsEntry, error) {
	object, entries := &metav1.PartialObjectMetadata{}, live.GetManagedFields()
	var names []string
	for i := range entries {
		if a.earlier(entries[i]) {
			names = append(names, fmt.Sprintf("earlier %d", i)) // csaupgrade drops all but one entry of a name
			entries[i].Manager, entries[i].Operation = names[len(names)-1], metav1.ManagedFieldsOperationUpdate
		}
	}
	object.SetManagedFields(entries)
	for _, name := range names {
		if err := csaupgrade.UpgradeManagedFields(object, sets.New(name), a.manager()); err != nil {
			return nil, err
		}
	}
	return object.GetManagedFields(), nil
}

// foresee has the server judge an object without what only earlier ways to apply own of it. judged is what it becomes
// beside that.
func (a *application) foresee(ctx context.Context, resource dynamic.ResourceInterface, before, judged *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	going, err := fieldsOwned(before.GetManagedFields(), a.earlier)
	if err != nil {
		return nil, err
	}
	kept, err := fieldsOwned(judged.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool { return !a.earlier(e) })
	if err != nil {
		return nil, err
	}
	after := judged.DeepCopy()
	going.Difference(withParents(kept)).Iterate(func(p fieldpath.Path) { after.Object = withoutField(after.Object, p).(map[string]any) })
	after.SetManagedFields(nil)
	var foreseen *unstructured.Unstructured
	err = poll(ctx, a.patience, func(ctx context.Context) (bool, error) {
		after.SetResourceVersion(before.GetResourceVersion())
		foreseen, err = resource.Update(ctx, after, metav1.UpdateOptions{FieldManager: a.manager(), DryRun: []string{metav1.DryRunAll}})
		if !apierrors.IsConflict(err) {
			return true, err
		}
		before, err = resource.Get(ctx, after.GetName(), metav1.GetOptions{}) // a controller has changed it meanwhile
		return false, err
	})
	return foreseen, err
}

// gone are the fields that earlier ways to apply had set and an object has no more, apart from kubectl's own note.
func (a *application) gone(before, after *unstructured.Unstructured) (all []loss, err error) {
	note := fieldpath.MakePathOrDie("metadata", "annotations", corev1.LastAppliedConfigAnnotation)
	for _, entry := range slices.DeleteFunc(before.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool { return !a.earlier(e) }) {
		had, err := fieldSet(entry)
		if err != nil {
			return nil, err
		}
		fields := &fieldpath.Set{}
		had.Leaves().Iterate(func(p fieldpath.Path) {
			if p.Equals(note) || !hasField(before.Object, p) {
				return
			}
			for i := range p { // what it was in may be gone as well
				if up := p[:i+1]; !hasField(after.Object, up) {
					fields.Insert(up.Copy())
					return
				}
			}
		})
		if !fields.Empty() {
			all = append(all, loss{entry, fields})
		}
	}
	return all, nil
}
