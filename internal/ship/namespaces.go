package ship

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/report"
)

// requireNamespaces fails when objects are in namespaces that neither the cluster nor one of them brings, and names
// these. A namespace that the user may not read is left to the objects' own requests.
func (c *Cluster) requireNamespaces(ctx context.Context, objects []*unstructured.Unstructured, set *Set) error {
	first := map[string]*unstructured.Unstructured{} // in each namespace
	all := objects
	if set != nil && !set.DefinitionsOnly {
		all = append(slices.Clone(objects), set.parent(nil, nil))
	}
	for _, object := range all {
		placed := c.place(ctx, object, objects)
		if namespace := placed.GetNamespace(); first[namespace] == nil && namespace != "" && !brings(objects, namespace) {
			first[namespace] = placed
		}
	}
	var missing, names, commands []string
	var cause error
	for _, namespace := range slices.Sorted(maps.Keys(first)) {
		if _, err := c.objects.Resource(namespaceResource).Get(ctx, namespace, metav1.GetOptions{}); apierrors.IsNotFound(err) {
			missing, names = append(missing, namespace), append(names, nameOf(first[namespace]))
			commands = append(commands, "slipway kubectl create namespace "+namespace)
			cause = err
		}
	}
	if len(missing) == 0 {
		return nil
	}
	e := lacksNamespaces(missing, strings.Join(names, ", "), strings.Join(commands, " && "), cause)
	if len(missing) == 1 {
		e.Object = refOf(first[missing[0]])
	}
	return e
}

// place is an object with its namespace filled in. Of a kind that comes with the objects, its definition decides
// whether it has one.
func (c *Cluster) place(ctx context.Context, object *unstructured.Unstructured, objects []*unstructured.Unstructured) *unstructured.Unstructured {
	_, located, err := c.locate(ctx, object, 0)
	if err == nil {
		return located
	}
	scope := ""
	if definition := definitionOf(objects, kindOf(object)); definition != nil {
		scope, _, _ = unstructured.NestedString(definition.Object, "spec", "scope")
	}
	if scope != "Namespaced" {
		return withoutNamespace(object)
	}
	placed := object.DeepCopy()
	placed.SetNamespace(cmp.Or(object.GetNamespace(), c.namespace))
	return placed
}

// lacksNamespaces is the error of objects whose namespaces do not exist.
func lacksNamespaces(missing []string, where, next string, cause error) *report.Error {
	e := &report.Error{Class: report.Refused, What: "its namespace does not exist", Where: where, Err: cause, Hint: "create it, or add it to the manifests", Next: next}
	if len(missing) > 1 {
		e.What, e.Err = "these namespaces do not exist: "+strings.Join(missing, ", "), nil
		e.Hint = "nothing was changed; create them, or add them to the manifests"
	}
	return e
}
