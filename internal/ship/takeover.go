package ship

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// A loss is what a manager of an object loses to another one.
type loss struct {
	entry  metav1.ManagedFieldsEntry
	fields *fieldpath.Set
}

// losses are the fields that managers of an object lose when it becomes another state, apart from the one that is
// named.
func losses(before, after *unstructured.Unstructured, manager string) (all []loss, err error) {
	if before == nil {
		return nil, nil
	}
	for _, entry := range before.GetManagedFields() {
		if entry.Manager == manager || entry.Subresource != "" {
			continue
		}
		had, err := fieldSet(entry)
		if err != nil {
			return nil, err
		}
		has := &fieldpath.Set{}
		if at := slices.IndexFunc(after.GetManagedFields(), func(e metav1.ManagedFieldsEntry) bool { return sameOwner(e, entry) }); at >= 0 {
			if has, err = fieldSet(after.GetManagedFields()[at]); err != nil {
				return nil, err
			}
		}
		if lost := had.Difference(has).Leaves(); !lost.Empty() {
			all = append(all, loss{entry, lost})
		}
	}
	return all, nil
}

// inWords says who loses which fields to us.
func inWords(all []loss) string {
	var parts []string
	for _, l := range all {
		var fields []string
		l.fields.Iterate(func(p fieldpath.Path) { fields = append(fields, p.String()) })
		if len(fields) > maxTaken {
			fields = append(fields[:maxTaken], fmt.Sprintf("and %d more", len(fields)-maxTaken))
		}
		parts = append(parts, strings.Join(fields, ", ")+" from "+l.entry.Manager)
	}
	if len(parts) == 0 {
		return ""
	}
	return "takes " + strings.Join(parts, "; ")
}

// maxTaken bounds how many fields are listed.
const maxTaken = 5

// take applies an object. Fields that others own and set differently are a conflict, unless force says to take them, or
// those others are earlier ways to apply the same manifests: what these have that is not in the object stays as it is.
// It says what was taken.
func (a *application) take(ctx context.Context, resource dynamic.ResourceInterface, object, before *unstructured.Unstructured) (after *unstructured.Unstructured, taken string, err error) {
	after, err = a.patch(ctx, resource, object, patching{force: a.force, dry: a.dry})
	if before != nil && apierrors.IsConflict(err) && a.takesEarlier(ctx, resource, object, before) {
		after, err = a.patch(ctx, resource, object, patching{force: true, dry: a.dry})
	}
	if err != nil {
		return nil, "", err
	}
	lost, err := losses(before, after, a.manager())
	if err != nil {
		return nil, "", err
	}
	return after, inWords(lost), nil
}

// takesEarlier tells whether only earlier ways to apply would lose fields.
func (a *application) takesEarlier(ctx context.Context, resource dynamic.ResourceInterface, object, before *unstructured.Unstructured) bool {
	if !slices.ContainsFunc(before.GetManagedFields(), a.earlier) {
		return false
	}
	after, err := a.patch(ctx, resource, object, patching{force: true, dry: true})
	if err != nil {
		return false
	}
	lost, err := losses(before, after, a.manager())
	return err == nil && len(lost) > 0 && !slices.ContainsFunc(lost, func(l loss) bool { return !a.earlier(l.entry) })
}

// earlier tells an entry of one that wrote the same manifests before, or of our own writes that were no applying.
func (a *application) earlier(entry metav1.ManagedFieldsEntry) bool {
	if entry.Manager == a.manager() {
		return entry.Operation == metav1.ManagedFieldsOperationUpdate && entry.Subresource == ""
	}
	return isEarlier(entry)
}

// release takes from earlier ways to apply what is ours now, so that a field goes when it leaves the manifests. An
// object that somebody changes meanwhile, as controllers do while pods come and go, is looked at again.
func (a *application) release(ctx context.Context, resource dynamic.ResourceInterface, live *unstructured.Unstructured) error {
	name := live.GetName()
	return poll(ctx, a.patience, func(ctx context.Context) (bool, error) {
		entries, changed, err := released(live.GetManagedFields(), a.manager(), a.earlier)
		if err != nil || !changed {
			return true, err
		}
		patch, err := json.Marshal([]map[string]any{
			{"op": "replace", "path": "/metadata/managedFields", "value": entries},
			{"op": "replace", "path": "/metadata/resourceVersion", "value": live.GetResourceVersion()},
		})
		if err != nil {
			return false, err
		}
		_, err = resource.Patch(ctx, name, types.JSONPatchType, patch, metav1.PatchOptions{FieldManager: a.manager()})
		if !apierrors.IsConflict(err) {
			return true, err
		}
		live, err = resource.Get(ctx, name, metav1.GetOptions{})
		return false, err
	})
}

// released are entries in which those of earlier ways to apply have no more what manager has too, and are gone if
// nothing is left.
func released(entries []metav1.ManagedFieldsEntry, manager string, earlier func(metav1.ManagedFieldsEntry) bool) (left []metav1.ManagedFieldsEntry, changed bool, err error) {
	ours := &fieldpath.Set{}
	for _, entry := range entries {
		if entry.Manager == manager && entry.Operation == metav1.ManagedFieldsOperationApply && entry.Subresource == "" {
			if ours, err = fieldSet(entry); err != nil {
				return nil, false, err
			}
		}
	}
	for _, entry := range entries {
		if !earlier(entry) {
			left = append(left, entry)
			continue
		}
		has, err := fieldSet(entry)
		if err != nil {
			return nil, false, err
		}
		rest := has.Difference(ours)
		changed = changed || rest.Size() < has.Size()
		if rest.Empty() {
			continue
		}
		if entry, err = withFields(entry, rest); err != nil {
			return nil, false, err
		}
		left = append(left, entry)
	}
	return left, changed, nil
}
