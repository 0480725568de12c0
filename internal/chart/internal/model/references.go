package model

import (
	"strings"

	"github.com/slipway-dev/slipway/internal/chart/internal/tree"
)

// names are the names that the kustomization gives objects of the release's namespace or of none: by kind and the name
// that it builds, the name with its mark.
type names map[string]string

// followNames puts marks where a reference has the built name of one of the model's objects as it is written in the
// project: kustomize changes only names without the prefix, of objects whose namespace it finds.
func (m *Model) followNames() {
	known := m.names()
	for _, d := range m.Documents {
		m.follow(known, d.Object, "")
	}
}

// names are those of the model's objects.
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

// isRelease reports whether a namespace is the release's.
func (m *Model) isRelease(namespace string) bool {
	return namespace == NamespaceMark || namespace != "" && namespace == m.Namespace
}

// follow puts marks into the references in a tree; key is that of the field with the tree.
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

// followReference puts marks into a map if it is a reference to an object of the release.
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

// referred is the kind that a reference in the field of a key names; "" if the map is none that is known.
func referred(ref *tree.Map, key string) string {
	switch key {
	case "subjects", "roleRef":
		return ref.Text("kind")
	case "service": // of webhooks, conversions and APIServices
		return "Service"
	}
	return ""
}
