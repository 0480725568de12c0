package ship

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// A loss is what a manager of an object loses to another one.
type loss struct {
	entry  metav1.ManagedFieldsEntry
	fields *fieldpath.Set
}

// losses are the fields that managers of an object lose when it becomes another state, apart from the one that is
// named, and from those of a status, which controllers write meanwhile.
func losses(before, after *unstructured.Unstructured, manager string) (all []loss, err error) {
	if before == nil {
		return nil, nil
	}
	for _, entry := range before.GetManagedFields() {
		if entry.Manager == manager || entry.Subresource == "status" {
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

// inWords says what is done with which fields of whom.
func inWords(verb, preposition string, all []loss) string {
	var parts []string
	for _, l := range all {
		var fields []string
		l.fields.Iterate(func(p fieldpath.Path) { fields = append(fields, p.String()) })
		if len(fields) > maxTaken {
			fields = append(fields[:maxTaken], fmt.Sprintf("and %d more", len(fields)-maxTaken))
		}
		parts = append(parts, strings.Join(fields, ", ")+" "+preposition+" "+l.entry.Manager)
	}
	if len(parts) == 0 {
		return ""
	}
	return verb + " " + strings.Join(parts, "; ")
}

// maxTaken bounds how many fields are listed.
const maxTaken = 5

// take applies an object, which is a member of the set or not. Fields that others own and set differently are a
// conflict, unless force says to take them, or those others are earlier ways to apply the same manifests. Of a member
// all that these own is inherited: what the object lacks goes. It says what was taken, and what went.
func (a *application) take(ctx context.Context, resource dynamic.ResourceInterface, object, before *unstructured.Unstructured, member bool) (after *unstructured.Unstructured, said string, err error) {
	inherits := member && before != nil && slices.ContainsFunc(before.GetManagedFields(), a.earlier)
	after, err = a.settle(ctx, resource, object, before, a.dry || inherits)
	if inherits {
		return a.inherit(ctx, resource, object, before, after, err)
	}
	if err != nil {
		return nil, "", err
	}
	lost, err := losses(before, after, a.manager())
	return after, inWords("takes", "from", lost), err
}

// settle applies an object, or has the server judge it. It takes fields in conflict if only earlier ways to apply lose
// some.
func (a *application) settle(ctx context.Context, resource dynamic.ResourceInterface, object, before *unstructured.Unstructured, dry bool) (*unstructured.Unstructured, error) {
	after, err := a.patch(ctx, resource, object, patching{force: a.force, dry: dry})
	if before == nil || !apierrors.IsConflict(err) || !slices.ContainsFunc(before.GetManagedFields(), a.earlier) {
		return after, err
	}
	forced, refused := a.patch(ctx, resource, object, patching{force: true, dry: true})
	if apierrors.IsInvalid(refused) { // which the server says only where no conflict comes first
		return nil, refused
	}
	if refused != nil {
		return nil, err
	}
	lost, unread := losses(before, forced, a.manager())
	if unread != nil || len(lost) == 0 || slices.ContainsFunc(lost, func(l loss) bool { return !a.earlier(l.entry) }) {
		return nil, err
	}
	if dry {
		return forced, nil
	}
	return a.patch(ctx, resource, object, patching{force: true})
}

// earlier tells an entry of one that wrote the same manifests before, or of our own writes that were no applying.
func (a *application) earlier(entry metav1.ManagedFieldsEntry) bool {
	if entry.Manager == a.manager() {
		return entry.Operation == metav1.ManagedFieldsOperationUpdate && entry.Subresource == ""
	}
	return isEarlier(entry)
}
