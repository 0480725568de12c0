package feature_test

import (
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/features"
	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/feature"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/newproject"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projectfile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projecttest"
)

const permitsURL = `
-- config/rbac/role.yaml --
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: manager-role
rules:
- nonResourceURLs:
  - /version
  verbs: [get]
`

// TestNamespacedWithURLs: a Role about URLs, which the API server refuses, is not made: the rule is reported, and the
// marker that it is generated from. A role of another name may have such rules.
func TestNamespacedWithURLs(t *testing.T) {
	root := projecttest.New(t, newproject.Options{})
	projecttest.Unpack(t, root, permitsURL)
	_, err := projectfile.Edit(fileview.Disk(root), feature.InNamespace(true))
	refused(t, features.Namespaced, err, "config/rbac/role.yaml:7", "remove this rule")
	projecttest.Unpack(t, root, "-- internal/version.go --\npackage internal\n\n// +kubebuilder:rbac:urls=/version,verbs=get\n")
	_, err = projectfile.Edit(fileview.Disk(root), feature.InNamespace(true))
	refused(t, features.Namespaced, err, "config/rbac/role.yaml:7", "urls= at internal/version.go:3")
	projecttest.Unpack(t, root, strings.Replace(permitsURL, "role.yaml", "version.yaml", 1)+
		"-- config/rbac/role.yaml --\nkind: ClusterRole\nmetadata:\n  name: manager-role\n")
	projecttest.Apply(t)(projectfile.Edit(fileview.Disk(root), feature.InNamespace(true)))
}

// TestNamespacedElsewhere: the role is where the Makefile has it generated.
func TestNamespacedElsewhere(t *testing.T) {
	root := projecttest.New(t, newproject.Options{})
	projecttest.Unpack(t, root, strings.Replace(permitsURL, "config/rbac", "deploy/rbac", 1)+
		"-- Makefile --\nmanifests:\n\tcontroller-gen rbac:roleName=manager-role paths=./... output:rbac:dir=deploy/rbac\n")
	_, err := projectfile.Edit(fileview.Disk(root), feature.InNamespace(true))
	refused(t, features.Namespaced, err, "deploy/rbac/role.yaml:7", "into another file of deploy/rbac;")
}

// TestNamespacedWithClusterResources: permissions on resources that are in no namespace have no effect in a Role, which
// is said of Kubernetes' own and of the project's.
func TestNamespacedWithClusterResources(t *testing.T) {
	root := projecttest.New(t, newproject.Options{})
	projecttest.Unpack(t, root, `
-- config/rbac/role.yaml --
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: manager-role
rules:
- apiGroups: [""]
  resources: [pods, nodes, nodes/proxy, namespaces]
  verbs: [get]
- apiGroups: [metrics.k8s.io]
  resources: [nodes]
  verbs: [get]
`)
	plan, err := projectfile.Edit(fileview.Disk(root), feature.InNamespace(true))
	if err != nil {
		t.Fatal(err)
	}
	want := "config/rbac/role.yaml:7: in a namespace this has no effect, since nodes, namespaces are in none"
	if left := plan.Left(); len(left) != 1 || !strings.HasPrefix(left[0], want) {
		t.Errorf("left to the user: %q\nwant one that begins with %q", left, want)
	}
}
