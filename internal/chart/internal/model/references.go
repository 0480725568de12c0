package model

import (
	"strings"

	"github.com/slipway-dev/slipway/internal/chart/internal/tree"
)

// names maps kind/name, as the kustomization builds it, to the marked name. It has the objects in the release's
// namespace and cluster-scoped ones.
type names map[string]string

// followNames marks references that are written with the built name of an object. Kustomize changes only references
// without the prefix, to objects whose namespace it finds.
func (m *Model) followNames() {
	known := m.names()
	for _, d := range m.Documents {
		m.follow(known, d.Object, "")
	}
}

func (m *Model) names() names {
	known := names{}
	for _, d := range m.Documents {
		metadata := d.Object.At("metadata")
		marked := metadata.Text("name")
		elsewhere := metadata.Find("namespace") != nil && !m.isRelease(metadata.Text("namespace"))
		if built := strings.ReplaceAll(marked, PrefixMark, m.Prefix); built != marked && !elsewhere {
			known[d.Kind+"/"+built] = marked
		}
	}
	return known
}

func (m *Model) isRelease(namespace string) bool {
	return namespace == NamespaceMark || namespace != "" && namespace == m.Namespace
}

// follow marks the references in a tree. Key is the key of the field that contains the tree.
func (m *Model) follow(known names, n tree.Node, key string) {
	switch n := n.(type) {
	case *tree.Map:
		m.followReference(known, n, key)
		for _, f := range n.Fields {
			m.follow(known, f.Value, f.Key)
		}
	case *tree.List:
		for _, i := range n.Items {
			m.follow(known, i.Value, key)
		}
	}
}

// followReference marks a map if it refers to an object of the release.
func (m *Model) followReference(known names, ref *tree.Map, key string) {
	kind := referred(ref, key)
	if kind == "" || ref.Find("namespace") != nil && !m.isRelease(ref.Text("namespace")) {
		return
	}
	followed := false
	for i, f := range ref.Fields {
		s, _ := f.Value.(tree.Scalar)
		name, _ := s.Value.(string)
		if marked := known[kind+"/"+strings.ReplaceAll(name, PrefixMark, m.Prefix)]; f.Key == "name" && marked != "" {
			ref.Fields[i].Value, followed = tree.Scalar{Value: marked}, true
		}
	}
	if f := ref.Find("namespace"); followed && f != nil {
		f.Value = tree.Scalar{Value: NamespaceMark}
	}
}

// referred returns the kind that a reference in the field of this key names; "" if the map is no known reference.
func referred(ref *tree.Map, key string) string {
	switch key {
	case "subjects", "roleRef":
		return ref.Text("kind")
	case "service": // of webhooks, conversions and APIServices
		return "Service"
	}
	return ""
}
