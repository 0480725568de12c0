package projectfile_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/projectfile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projecttest"
	"github.com/slipway-dev/slipway/project"
)

// TestComplete: what version 2 of PROJECT does not record of a kind is read from the files of the layout.
func TestComplete(t *testing.T) {
	root := t.TempDir()
	projecttest.Unpack(t, root, `
-- PROJECT --
domain: example.com
repo: example.com/op
resources:
- group: crew
  version: v1
  kind: Captain
- group: crew
  version: v1
  kind: Deck
- group: crew
  version: v1
  kind: Mast
- group: core
  version: v1
  kind: Pod
version: "2"
-- config/default/kustomization.yaml --
namePrefix: crew-op-
-- api/v1/captain_types.go --
package v1

// +kubebuilder:resource:path=crews,scope=Cluster
type Captain struct {
	metav1.TypeMeta
	metav1.ObjectMeta
}
-- api/v1/captain_webhook.go --
package v1

func (r *Captain) Default() {}
-- api/v1/deck_types.go --
package v1

type Deck struct {
	metav1.TypeMeta
	metav1.ObjectMeta
}
-- pkg/mast/mast.go --
package mast

type MastReconciler struct{}
-- controllers/captain_controller.go --
package controllers
-- controllers/pod_controller.go --
package controllers
`)
	file, err := projectfile.Load(root)
	if err != nil {
		t.Fatal(err)
	}
	if file.Name != "crew-op" {
		t.Errorf("the project is called %q", file.Name)
	}
	want := []project.Resource{
		{Group: "crew", Version: "v1", Kind: "Captain", Domain: "example.com", Plural: "crews", API: &project.API{CRDVersion: "v1"}, Controller: true, Webhooks: &project.Webhooks{WebhookVersion: "v1", Defaulting: true}},
		{Group: "crew", Version: "v1", Kind: "Deck", Domain: "example.com", API: &project.API{CRDVersion: "v1", Namespaced: true}},
		{Group: "crew", Version: "v1", Kind: "Mast", Domain: "example.com", API: &project.API{CRDVersion: "v1", Namespaced: true}, Controller: true},
		{Group: "core", Version: "v1", Kind: "Pod", Core: true, Path: "k8s.io/api/core/v1", Controller: true},
	}
	if diff := cmp.Diff(want, file.Resources, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	before := projecttest.Read(t, root, "PROJECT")
	if after, err := file.Marshal(); err != nil || string(after) != before {
		t.Errorf("the file becomes %s, %v", after, err)
	}
}
