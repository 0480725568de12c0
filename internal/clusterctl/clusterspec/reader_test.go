package clusterspec

import (
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestFirstMistakeEnds: only the first mistake is reported, so what follows it need not be looked at.
func TestFirstMistakeEnds(t *testing.T) {
	for _, text := range []string{"[a, b, c]", "{a: 1, b: 2, c: 3}"} {
		var n yaml.Node
		if err := yaml.Unmarshal([]byte(text), &n); err != nil {
			t.Fatal(err)
		}
		read, r := 0, &reader{path: "f"}
		fail := func(at *yaml.Node) { read++; r.fail(at, "wrong", "", nil) }
		if root := n.Content[0]; root.Kind == yaml.MappingNode {
			r.pairs(root, "", func(key, _ *yaml.Node, _ string) { fail(key) })
		} else {
			for _, item := range r.sequence(root, "") {
				fail(item)
			}
		}
		if read != 1 {
			t.Errorf("%s: read %d", text, read)
		}
	}
}
