package model

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/chart/internal/tree"
)

// Unmarked returns a name without the prefix's mark.
func Unmarked(name string) string { return strings.ReplaceAll(name, PrefixMark, "") }

// namespace returns the manager's namespace: the mark, unless the kustomization sets none and its resources do.
func namespace(objects []*unstructured.Unstructured) string {
	for _, o := range objects {
		if o.GroupVersionKind().Group == "apps" && o.GetNamespace() != "" {
			return o.GetNamespace()
		}
	}
	return NamespaceMark
}

// isOwn reports whether a Namespace is the one that becomes the release's.
func isOwn(d Document, own string) bool {
	name := d.Object.At("metadata").Text("name")
	return name == NamespaceMark || name == own || strings.HasPrefix(name, PrefixMark)
}

// markNamespace replaces the namespace own by the mark in fields called namespace. Fields that kustomize knows to
// follow from the namespace have the mark already.
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
