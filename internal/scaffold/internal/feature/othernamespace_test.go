package feature_test

import (
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/feature"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/newproject"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projecttest"
)

// TestMovedOutOfNamespace: a line is not advised that would move objects of another namespace; those are named.
func TestMovedOutOfNamespace(t *testing.T) {
	root := projecttest.New(t, newproject.Options{})
	projecttest.Unpack(t, root, strings.Replace(sidecarFirst, "namespace: system", "namespace: theirs", 1)+"-- "+list+` --
resources:
- ../manager
- ../reader
-- config/reader/kustomization.yaml --
resources:
- binding.yaml
-- config/reader/binding.yaml --
kind: RoleBinding
metadata:
  name: own
  namespace: theirs
---
kind: RoleBinding
metadata:
  name: reader
  namespace: kube-system
-- config/unlisted/binding.yaml --
kind: RoleBinding
metadata:
  name: unlisted
  namespace: kube-system
`)
	_, err := projecttest.Edit(root, feature.Enable(feature.Prometheus))
	refused(t, feature.Prometheus, err, list, "out of their namespaces: RoleBinding reader in kube-system (config/reader/binding.yaml:9); first")
}
