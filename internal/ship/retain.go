package ship

import (
	"context"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// keepMarks are the annotations by which users have Helm, kubectl's libraries and Flux leave an object where it is.
// Flux reads labels too.
var keepMarks = [][2]string{
	{"helm.sh/resource-policy", "keep"},
	{"client.lifecycle.config.k8s.io/deletion", "detach"},
	{"kustomize.toolkit.fluxcd.io/prune", "disabled"},
}

// keepMark is the mark by which a user keeps an object, as name and value; empty if it has none.
func keepMark(object *unstructured.Unstructured) string {
	for _, mark := range keepMarks {
		for _, values := range []map[string]string{object.GetAnnotations(), object.GetLabels()} {
			if strings.EqualFold(strings.TrimSpace(values[mark[0]]), mark[1]) {
				return mark[0] + ": " + mark[1]
			}
		}
	}
	return ""
}

// storesData reports whether an object has content that no configuration has: it is lost with the object even if that
// is applied again. A StatefulSet has it if its claims go with it.
func storesData(object *unstructured.Unstructured) bool {
	switch kindOf(object).String() {
	case "PersistentVolume", "PersistentVolumeClaim":
		return true
	case "StatefulSet.apps":
		policy, _, _ := unstructured.NestedString(object.Object, "spec", "persistentVolumeClaimRetentionPolicy", "whenDeleted")
		return policy == "Delete"
	}
	return false
}

// holdsData reports whether an object that left the configuration may hold data: what storesData names, what other
// objects are in, Secrets, and custom resources, whose operator may delete more with them.
func (c *Cluster) holdsData(ctx context.Context, object *unstructured.Unstructured) (bool, error) {
	if storesData(object) || isShared(object) || kindOf(object).String() == "Secret" {
		return true, nil
	}
	return c.isCustom(ctx, object)
}

// isCustom reports whether a definition makes the kind of an object. A definition that the user may not read counts.
func (c *Cluster) isCustom(ctx context.Context, object *unstructured.Unstructured) (bool, error) {
	group := kindOf(object).Group
	if rank(kindOf(object)) != customRank || isHook(object) || !strings.Contains(group, ".") { // the groups of definitions have one
		return false, nil
	}
	resource, err := c.catalog.find(ctx, object.GroupVersionKind())
	if err != nil {
		return false, err
	}
	_, err = c.objects.Resource(crdResource).Get(ctx, resource.Name+"."+group, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return false, nil
	case apierrors.IsForbidden(err):
		return true, nil
	}
	return err == nil, err
}

// isHook reports whether an object is a webhook configuration.
func isHook(object *unstructured.Unstructured) bool {
	return kindOf(object).Group == "admissionregistration.k8s.io"
}

// isShared reports whether others may have things in an object: namespaces and definitions.
func isShared(object *unstructured.Unstructured) bool {
	return kindOf(object) == crdKind || kindOf(object) == namespaceKind
}

// isWithin reports whether an object is deleted with another one, its namespace or its definition.
func isWithin(object, container *unstructured.Unstructured) bool {
	switch kindOf(container) {
	case namespaceKind:
		return object.GetNamespace() == container.GetName()
	case crdKind:
		return defines(container, kindOf(object))
	}
	return false
}

// firstWithin is the first of objects that is deleted with a container; nil if none is.
func firstWithin(container *unstructured.Unstructured, objects []*unstructured.Unstructured) *unstructured.Unstructured {
	at := slices.IndexFunc(objects, func(o *unstructured.Unstructured) bool { return isWithin(o, container) })
	if at < 0 {
		return nil
	}
	return objects[at]
}
