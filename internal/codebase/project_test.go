package codebase_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/slipway-dev/slipway/project"
)

// TestComplete: what version 2 of PROJECT does not record of a kind is read from the files of the layout.
func TestComplete(t *testing.T) {
	code := read(unpacked(t, `
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

// +kubebuilder:webhook:path=/mutate-crew-example-com-v1-captain,mutating=true

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

type CaptainReconciler struct{}
-- controllers/pod_controller.go --
package controllers

type PodReconciler struct{}
`))
	file, err := code.Described()
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
	written, err := code.Project()
	if err != nil || written.Name != "" || written.Resources[0].Webhooks != nil {
		t.Errorf("the file as it is written has %+v, %v", written, err)
	}
}

// described is a project with a kind.
var described = opProject(opEntry("ship", "v1", "Frigate", "example.com/op/api/v1"))

// TestControllersElsewhere: controllers are where some are; else where the layout has them.
func TestControllersElsewhere(t *testing.T) {
	const reconciler = "package controller\n\nfunc (r *R) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {\n}\n"
	for _, test := range []struct{ files, want string }{
		{"", "internal/controller"},
		{"-- controllers/a.go --\n" + reconciler, "controllers"},
		{"-- pkg/controller/a.go --\n" + reconciler, "pkg/controller"},
		{"-- pkg/controller/ship/a.go --\n" + reconciler, "pkg/controller"},
		{"-- pkg/reconcilers/frigate/a.go --\n" + reconciler, "pkg/reconcilers"},
		{"-- pkg/reconcilers/backup/a.go --\n" + reconciler, "pkg/reconcilers/backup"},
		{"-- pkg/reconcilers/backup/a.go --\n" + reconciler + "-- pkg/reconcilers/restore/a.go --\n" + reconciler, "pkg/reconcilers"},
		{"-- pkg/a/a.go --\n" + reconciler + "-- pkg/b/a.go --\n" + reconciler + "-- pkg/b/b.go --\n" + strings.ReplaceAll(reconciler, "*R", "*S"), "pkg/b"},
		{"-- a.go --\n" + reconciler, "internal/controller"},
		{"-- controllers/a_test.go --\n" + reconciler, "internal/controller"},
		{"-- controllers/a.go --\n" + reconciler + "-- internal/controller/a.go --\n" + reconciler, "internal/controller"},
	} {
		file, err := read(unpacked(t, described+test.files)).Described()
		if err != nil {
			t.Fatal(err)
		}
		if got := file.ControllerDir(file.Resources[0]); got != test.want {
			t.Errorf("%q: got %s, want %s", test.files, got, test.want)
		}
	}
}

// TestWebhooksElsewhere: webhooks are where some are; else where the layout has them.
func TestWebhooksElsewhere(t *testing.T) {
	const marked = "package p\n\n// +kubebuilder:webhook:path=/validate-x,mutating=false\n"
	for _, test := range []struct{ layout, files, want string }{
		{"v4", "", "internal/webhook/v1"},
		{"v4", "-- internal/webhook/v1/a.go --\n" + marked + "-- hooks/b.go --\n" + marked, "internal/webhook/v1"},
		{"v4", "-- internal/webhooks/v1/a.go --\n" + marked, "internal/webhooks/v1"},
		{"v4", "-- internal/webhooks/a.go --\n" + marked, "internal/webhooks"},
		{"v4", "-- api/v1/a.go --\n" + marked, "internal/webhook/v1"},
		{"v3", "", "api/v1"},
		{"v3", "-- api/v1/a.go --\n" + marked + "-- internal/webhook/v1/b.go --\n" + marked, "api/v1"},
		{"v3", "-- internal/webhook/v1/a.go --\n" + marked, "internal/webhook/v1"},
		{"v3\nmultigroup: true", "-- pkg/webhooks/v1/a.go --\n" + marked, "pkg/webhooks/v1"},
		{"v4\nmultigroup: true", "-- internal/webhooks/ship/v1/a.go --\n" + marked, "internal/webhooks/ship/v1"},
	} {
		file, err := read(unpacked(t, strings.Replace(described, "/v4", "/"+test.layout, 1)+test.files)).Described()
		if err != nil {
			t.Fatal(err)
		}
		if got := file.WebhookDir(file.Resources[0]); got != test.want {
			t.Errorf("%s %q: got %s, want %s", test.layout, test.files, got, test.want)
		}
	}
}

// TestDescribedModule: the module of go.mod counts, and not that of an earlier major version in PROJECT.
func TestDescribedModule(t *testing.T) {
	earlier := described + "-- go.mod --\nmodule example.com/op/v5\n"
	file, err := read(unpacked(t, earlier)).Described()
	if err != nil || file.Repo != "example.com/op/v5" || file.Resources[0].Path != "example.com/op/v5/api/v1" {
		t.Errorf("got %+v, %v", file, err)
	}
}
