package ship

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/slipway-dev/slipway/internal/report"
)

// requireKinds fails when objects are of kinds that neither the cluster nor one of their own
// definitions brings: better before the first object is applied than half-way.
func (c *Cluster) requireKinds(ctx context.Context, objects []*unstructured.Unstructured) error {
	var asked []schema.GroupVersionKind
	for _, object := range objects {
		kind := object.GroupVersionKind()
		if slices.Contains(asked, kind) || defined(objects, kind.GroupKind()) {
			continue
		}
		asked = append(asked, kind)
		_, err := c.catalog.find(ctx, kind)
		if _, unserved := errors.AsType[errNoKind](err); unserved && !c.defines(ctx, kind.GroupKind()) {
			return unknownKind(object, err)
		}
	}
	return nil
}

// defined tells whether one of objects is the definition of kind.
func defined(objects []*unstructured.Unstructured, kind schema.GroupKind) bool {
	return slices.ContainsFunc(objects, func(object *unstructured.Unstructured) bool {
		group, _, _ := unstructured.NestedString(object.Object, "spec", "group")
		name, _, _ := unstructured.NestedString(object.Object, "spec", "names", "kind")
		return kindOf(object) == crdKind && group == kind.Group && name == kind.Kind
	})
}

// unknownKind is the error of an object whose kind the cluster does not know.
func unknownKind(object *unstructured.Unstructured, cause error) error {
	e := &report.Error{What: "the cluster does not know this kind", Where: nameOf(object), Err: cause}
	switch group := object.GroupVersionKind().Group; group {
	case "cert-manager.io":
		e.Hint = "cert-manager is not installed in the cluster; install it, or have the operator make its certificates itself"
		e.Next = "slipway edit --certs self"
	case "monitoring.coreos.com":
		e.Hint = "the Prometheus operator is not installed in the cluster; install it, or deploy without its objects"
		e.Next = "slipway edit --disable prometheus"
	default:
		e.Hint = fmt.Sprintf("the definitions of %s have to be installed first", group)
	}
	return e
}
