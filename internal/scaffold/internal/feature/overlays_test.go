package feature_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/feature"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/newproject"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projecttest"
)

// TestOverlays: a project that deploys a base with overlays gets features on top of its base.
func TestOverlays(t *testing.T) {
	root := projecttest.New(t, newproject.Options{})
	if err := os.Remove(filepath.Join(root, "config", "default", "kustomization.yaml")); err != nil {
		t.Fatal(err)
	}
	projecttest.Unpack(t, root, "-- config/default/base/kustomization.yaml --\nnamespace: op\nresources:\n- ../../manager\n")
	projecttest.Apply(t)(projecttest.Edit(root, feature.Enable(feature.NetworkPolicy)))
	projecttest.Holds(t, root, "config/default/kustomization.yaml", "namespace: op\nresources:\n- base\n", "components:\n- ../network-policy\n")
}
