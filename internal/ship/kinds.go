package ship

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/slipway-dev/slipway/internal/builtin"
	"github.com/slipway-dev/slipway/internal/report"
)

// requireKinds fails when objects are of kinds that neither the cluster nor one of their own
// definitions brings: better before the first object is applied than half-way.
func (c *Cluster) requireKinds(ctx context.Context, objects []*unstructured.Unstructured) error {
	var asked []schema.GroupVersionKind
	for _, object := range objects {
		kind := object.GroupVersionKind()
		if slices.Contains(asked, kind) {
			continue
		}
		asked = append(asked, kind)
		if err := c.requireKind(ctx, kind, definitionOf(objects, kind.GroupKind())); err != nil {
			return unknownKind(object, err)
		}
	}
	return nil
}

// requireKind fails when a kind is not served and will not be. Its definition, if it comes with it, decides whatever
// the cluster serves now.
func (c *Cluster) requireKind(ctx context.Context, kind schema.GroupVersionKind, definition *unstructured.Unstructured) error {
	if definition != nil && !servesVersion(definition, kind.Version) {
		return errNoKind{kind, definition}
	}
	if definition != nil {
		return nil
	}
	_, err := c.catalog.find(ctx, kind)
	if missing, unserved := errors.AsType[errNoKind](err); unserved {
		return c.coming(ctx, missing)
	}
	return nil // the object's own request will tell
}

// Lacks reports whether the cluster does not serve a kind, and has no definition by which it soon will. It does not
// lack what it cannot be asked about.
func (c *Cluster) Lacks(ctx context.Context, kind schema.GroupVersionKind) bool {
	return c.requireKind(ctx, kind, nil) != nil
}

// CertManager is the API group of cert-manager.
const CertManager = "cert-manager.io"

// MissingGroup is the API group of the kind that the cluster does not know, if that is the error.
func MissingGroup(err error) string {
	missing, _ := errors.AsType[errNoKind](err)
	return missing.Group
}

// unknownKind is the error of an object whose kind the cluster does not know.
func unknownKind(object *unstructured.Unstructured, cause error) error {
	e := &report.Error{Class: report.Refused, What: "the cluster does not serve this kind", Where: nameOf(object), Object: refOf(object), Err: cause}
	if missing, _ := errors.AsType[errNoKind](cause); missing.definition != nil {
		e.What = "the cluster does not serve this version of the kind"
		e.Hint = otherVersions(missing.definition)
		return e
	}
	switch group := object.GroupVersionKind().Group; group {
	case CertManager:
		e.Hint = "cert-manager is not installed in the cluster; install it, or let the operator issue its own certificates"
		e.Next = "slipway edit --certs self"
	case "monitoring.coreos.com":
		e.Hint = "the Prometheus operator is not installed in the cluster; install it, or deploy without its objects"
		e.Next = "slipway edit --disable prometheus,alerts" // whose objects these are; one that is off stays off
	default:
		e.Hint = fmt.Sprintf("first install the CRDs of %s", group)
		if known := builtin.Kinds(cmp.Or(group, "core")); known != nil {
			e.Hint, e.Next = builtinVersions(object, known), "slipway kubectl api-resources --api-group="+group
		}
	}
	return e
}

// builtinVersions says of an object in one of Kubernetes' own groups where its kind is.
func builtinVersions(object *unstructured.Unstructured, known []builtin.Kind) string {
	var versions []string
	for _, k := range known {
		if k.Name == object.GetKind() && k.Version != object.GroupVersionKind().Version {
			versions = append(versions, schema.GroupVersion{Group: object.GroupVersionKind().Group, Version: k.Version}.String())
		}
	}
	if len(versions) == 0 {
		return "Kubernetes has no such kind in this group: correct apiVersion and kind in the manifest"
	}
	return "correct apiVersion in the manifest: Kubernetes has this kind in " + strings.Join(versions, ", ")
}
