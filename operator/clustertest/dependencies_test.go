package clustertest_test

import (
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/operator/clustertest"
)

// TestDefinitionsOfTheEnvironment: what `slipway test --dependencies` has found is there from the start, after a reset
// too, and in an isolated cluster.
func TestDefinitionsOfTheEnvironment(t *testing.T) {
	if os.Getenv("SLIPWAY_CLUSTER") == "" {
		t.Skip("SLIPWAY_CLUSTER names no cluster program; `make test` does")
	}
	file := filepath.Join(t.TempDir(), "definitions.yaml")
	text := `---
{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "gadgets.gadgets.example.com"}, "spec": {
  "group": "gadgets.example.com", "scope": "Namespaced", "names": {"plural": "gadgets", "kind": "Gadget"},
  "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}]}}
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SLIPWAY_DEFINITIONS", file)
	c := clustertest.Start(t, clustertest.Controllers(false), clustertest.Dependencies())
	c.Reset(t)
	for name, c := range map[string]*clustertest.Cluster{"reset": c, "isolated": c.Isolated(t)} {
		gadget := &unstructured.Unstructured{}
		gadget.SetAPIVersion("gadgets.example.com/v1")
		gadget.SetKind("Gadget")
		gadget.SetNamespace("default")
		gadget.SetName("a")
		if err := c.Client(t).Create(t.Context(), gadget); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
