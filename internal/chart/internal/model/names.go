package model

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/chart/internal/tree"
)

// Unmarked is a name without the prefix.
func Unmarked(name string) string { return strings.ReplaceAll(name, PrefixMark, "") }

// namespace is the namespace that the manager is in: the mark, unless the kustomization leaves
// the namespace to those that it refers to.
func namespace(objects []*unstructured.Unstructured) string {
	for _, o := range objects {
		if o.GroupVersionKind().Group == "apps" && o.GetNamespace() != "" {
			return o.GetNamespace()
		}
	}
	return NamespaceMark
}

// isOwn reports whether a Namespace is the one that the release brings.
func isOwn(d Document, own string) bool {
	name := d.Object.At("metadata").Text("name")
	return name == NamespaceMark || name == own || strings.HasPrefix(name, PrefixMark)
}

// markNamespace puts the mark into the places of the API that name a namespace and have the one
// that is given; what kustomize knows to follow from the namespace has the mark already.
func markNamespace(object *tree.Map, own string) {
	if own == NamespaceMark {
		return
	}
	var walk func(n tree.Node)
	walk = func(n tree.Node) {
		switch n := n.(type) {
		case *tree.Map:
			for i, f := range n.Fields {
				if s, ok := f.Value.(tree.Scalar); ok && f.Key == "namespace" && s.Value == own {
					n.Fields[i].Value = tree.Scalar{Value: NamespaceMark}
				}
				walk(f.Value)
			}
		case *tree.List:
			for _, i := range n.Items {
				walk(i.Value)
			}
		}
	}
	walk(object)
}
