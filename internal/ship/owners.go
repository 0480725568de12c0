package ship

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// conversionPath is where a definition says how its kind is converted.
var conversionPath = fieldpath.MakePathOrDie("spec", "conversion")

// fieldSet are the fields that an entry of the managed fields is about.
func fieldSet(entry metav1.ManagedFieldsEntry) (*fieldpath.Set, error) {
	set := &fieldpath.Set{}
	if entry.FieldsV1 == nil {
		return set, nil
	}
	if err := set.FromJSON(bytes.NewReader(entry.FieldsV1.GetRawBytes())); err != nil {
		return nil, fmt.Errorf("read the fields of manager %s: %w", entry.Manager, err)
	}
	return set, nil
}

// fieldsOwned are the fields of all entries that are wanted.
func fieldsOwned(entries []metav1.ManagedFieldsEntry, wanted func(metav1.ManagedFieldsEntry) bool) (*fieldpath.Set, error) {
	all := &fieldpath.Set{}
	for _, entry := range entries {
		if !wanted(entry) {
			continue
		}
		set, err := fieldSet(entry)
		if err != nil {
			return nil, err
		}
		all = all.Union(set)
	}
	return all, nil
}

// withFields is an entry of the managed fields about other fields.
func withFields(entry metav1.ManagedFieldsEntry, set *fieldpath.Set) (metav1.ManagedFieldsEntry, error) {
	text, err := set.ToJSON()
	if err != nil {
		return entry, fmt.Errorf("write the fields of manager %s: %w", entry.Manager, err)
	}
	entry.FieldsV1 = metav1.NewFieldsV1(string(text))
	return entry, nil
}

// below are the fields of a set at a path and below it.
func below(set *fieldpath.Set, path fieldpath.Path) *fieldpath.Set {
	found := &fieldpath.Set{}
	set.Iterate(func(p fieldpath.Path) {
		if len(p) >= len(path) && p[:len(path)].Equals(path) {
			found.Insert(p.Copy())
		}
	})
	return found
}

// ownersOf are the entries of an object's managed fields, about the fields at a path and below it. Those of a run are
// none.
func ownersOf(object *unstructured.Unstructured, path fieldpath.Path) ([]metav1.ManagedFieldsEntry, error) {
	var owners []metav1.ManagedFieldsEntry
	for _, entry := range object.GetManagedFields() {
		set, err := fieldSet(entry)
		if err != nil {
			return nil, err
		}
		if set = below(set, path); set.Empty() || isCallHere(entry) {
			continue
		}
		entry, err = withFields(entry, set)
		if err != nil {
			return nil, err
		}
		owners = append(owners, entry)
	}
	return owners, nil
}

// sameOwner tells whether two entries are one manager's, for the same way of writing.
func sameOwner(a, b metav1.ManagedFieldsEntry) bool {
	return a.Manager == b.Manager && a.Operation == b.Operation && a.Subresource == b.Subresource && a.APIVersion == b.APIVersion
}

// reowned are entries without those of a run, in which owners have their fields again.
func reowned(entries, owners []metav1.ManagedFieldsEntry) ([]metav1.ManagedFieldsEntry, error) {
	entries = slices.DeleteFunc(slices.Clone(entries), isCallHere)
	for _, owner := range owners {
		at := slices.IndexFunc(entries, func(e metav1.ManagedFieldsEntry) bool { return sameOwner(e, owner) })
		if at < 0 {
			entries = append(entries, owner)
			continue
		}
		is, err := fieldSet(entries[at])
		if err != nil {
			return nil, err
		}
		was, err := fieldSet(owner)
		if err != nil {
			return nil, err
		}
		if entries[at], err = withFields(entries[at], is.Union(was)); err != nil {
			return nil, err
		}
	}
	return entries, nil
}

// giveBack gives the fields of an object that a run took to those who had them.
func giveBack(ctx context.Context, resource dynamic.ResourceInterface, name string, owners []metav1.ManagedFieldsEntry) error {
	return poll(ctx, patienceOf(0), func(ctx context.Context) (bool, error) {
		live, err := resource.Get(ctx, name, metav1.GetOptions{})
		if err != nil || !slices.ContainsFunc(live.GetManagedFields(), isCallHere) {
			return true, err
		}
		entries, err := reowned(live.GetManagedFields(), owners)
		if err != nil {
			return false, err
		}
		live.SetManagedFields(entries)
		_, err = resource.Update(ctx, live, metav1.UpdateOptions{FieldManager: callHereManager})
		if apierrors.IsConflict(err) { // somebody changed it meanwhile
			return false, nil
		}
		return true, err
	})
}
