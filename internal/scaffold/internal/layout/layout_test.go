package layout_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/base"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/layout"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/newapi"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/newproject"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/newwebhook"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projectfile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projecttest"
)

// newProject has a CronJob with apply configurations, a controller and webhooks, and a controller and webhooks of
// Deployments.
func newProject(t *testing.T) string {
	t.Helper()
	root := projecttest.New(t, newproject.Options{})
	projecttest.Apply(t)(newapi.Create(fileview.Disk(root), newapi.Options{Group: "batch", Version: "v1", Kind: "CronJob", Resource: true, Controller: true, Namespaced: true, SSA: true}))
	projecttest.Apply(t)(newapi.Create(fileview.Disk(root), newapi.Options{Group: "apps", Version: "v1", Kind: "Deployment", Controller: true}))
	for _, kind := range []newwebhook.Options{{Group: "batch", Kind: "CronJob"}, {Group: "apps", Kind: "Deployment"}} {
		kind.Version, kind.Validation = "v1", true
		projecttest.Apply(t)(newwebhook.Create(fileview.Disk(root), kind))
	}
	projecttest.Unpack(t, root, "-- api/v1/applyconfiguration/api/v1/cronjob.go --\npackage v1\n")
	return root
}

func several(root string) (*plan.Plan, error) {
	return projectfile.Edit(fileview.Disk(root), layout.MultiGroup(true))
}
func one(root string) (*plan.Plan, error) {
	return projectfile.Edit(fileview.Disk(root), layout.MultiGroup(false))
}

// TestMultiGroup: each group has folders of its own, and what names the old ones names these.
func TestMultiGroup(t *testing.T) {
	root := newProject(t)
	moved := map[string]string{}
	for _, c := range projecttest.Apply(t)(several(root)) {
		if c.Action == report.Moved {
			moved[c.From] = c.Path
		}
	}
	want := map[string]string{
		"api/v1/cronjob_types.go":                           "api/batch/v1/cronjob_types.go",
		"api/v1/groupversion_info.go":                       "api/batch/v1/groupversion_info.go",
		"api/v1/applyconfiguration/api/v1/cronjob.go":       "api/batch/v1/applyconfiguration/batch/v1/cronjob.go",
		"config/rbac/cronjob_admin_role.yaml":               "config/rbac/batch_cronjob_admin_role.yaml",
		"config/rbac/cronjob_editor_role.yaml":              "config/rbac/batch_cronjob_editor_role.yaml",
		"config/rbac/cronjob_viewer_role.yaml":              "config/rbac/batch_cronjob_viewer_role.yaml",
		"internal/controller/cronjob_controller.go":         "internal/controller/batch/cronjob_controller.go",
		"internal/controller/cronjob_controller_test.go":    "internal/controller/batch/cronjob_controller_test.go",
		"internal/controller/deployment_controller.go":      "internal/controller/apps/deployment_controller.go",
		"internal/controller/deployment_controller_test.go": "internal/controller/apps/deployment_controller_test.go",
		"internal/controller/suite_test.go":                 "internal/controller/batch/suite_test.go",
		"internal/webhook/v1/cronjob_webhook.go":            "internal/webhook/batch/v1/cronjob_webhook.go",
		"internal/webhook/v1/cronjob_admission_test.go":     "internal/webhook/batch/v1/cronjob_admission_test.go",
		"internal/webhook/v1/deployment_webhook.go":         "internal/webhook/apps/v1/deployment_webhook.go",
		"internal/webhook/v1/deployment_admission_test.go":  "internal/webhook/apps/v1/deployment_admission_test.go",
		"internal/webhook/v1/webhook_suite_test.go":         "internal/webhook/batch/v1/webhook_suite_test.go",
	}
	if diff := cmp.Diff(want, moved); diff != "" {
		t.Errorf("moved files: %s", diff)
	}
	projecttest.Holds(t, root, "PROJECT", "multigroup: true\n", "path: example.com/op/api/batch/v1\n")
	projecttest.Holds(t, root, "cmd/main.go", `batchv1 "example.com/op/api/batch/v1"`, `"example.com/op/internal/controller/batch"`, `"example.com/op/internal/controller/apps"`)
	projecttest.Holds(t, root, "internal/controller/batch/suite_test.go", "package batch\n", `"..", "..", ".."`)
	projecttest.Holds(t, root, "config/rbac/kustomization.yaml", "- batch_cronjob_admin_role.yaml\n")
	// Suites are divided: each one sets up the webhooks of its own package.
	projecttest.Holds(t, root, "internal/webhook/batch/v1/webhook_suite_test.go", "SetupCronJobWebhookWithManager(", "!SetupDeploymentWebhookWithManager(")
	projecttest.Holds(t, root, "internal/webhook/apps/v1/webhook_suite_test.go", "SetupDeploymentWebhookWithManager(", "!SetupCronJobWebhookWithManager(")

	if again, err := several(root); err != nil || !again.Empty() {
		t.Errorf("a second time there is something to do: %v", err)
	}
}

// TestRolesElsewhere: roles are renamed where a new kind got them, beside the manager's role.
func TestRolesElsewhere(t *testing.T) {
	root := projecttest.New(t, newproject.Options{})
	if err := os.RemoveAll(filepath.Join(root, "config", "rbac")); err != nil {
		t.Fatal(err)
	}
	projecttest.Unpack(t, root, `
-- Makefile --
manifests:
	controller-gen rbac:roleName=manager-role paths=./... output:rbac:dir=deploy/rbac
-- deploy/kustomization.yaml --
resources:
- rbac/role.yaml
`)
	projecttest.Apply(t)(newapi.Create(fileview.Disk(root), newapi.Options{Group: "batch", Version: "v1", Kind: "CronJob", Resource: true, Namespaced: true}))
	projecttest.Holds(t, root, "deploy/kustomization.yaml", "- rbac/cronjob_viewer_role.yaml\n")
	projecttest.Apply(t)(several(root))
	projecttest.Holds(t, root, "deploy/rbac/batch_cronjob_viewer_role.yaml", "cronjobs")
	projecttest.Holds(t, root, "deploy/kustomization.yaml", "- rbac/batch_cronjob_viewer_role.yaml\n", "!- rbac/cronjob")
}

// TestThereAndBack: a project of one group is what it was, to the last byte.
func TestThereAndBack(t *testing.T) {
	root := projecttest.New(t, newproject.Options{})
	projecttest.Apply(t)(newapi.Create(fileview.Disk(root), newapi.Options{Group: "batch", Version: "v1", Kind: "CronJob", Resource: true, Controller: true, Namespaced: true, SSA: true}))
	projecttest.Apply(t)(newwebhook.Create(fileview.Disk(root), newwebhook.Options{Group: "batch", Version: "v1", Kind: "CronJob", Defaulting: true}))
	projecttest.Unpack(t, root, `
-- hack/check.sh --
go test ./internal/controller ./api/v1/...
cat api/v1/cronjob_types.go
-- api/v1/doc.txt --
mine
-- vendor/x/x.go --
package x

import _ "example.com/op/api/v1"
`)
	before := projecttest.Tree(t, root)
	projecttest.Apply(t)(several(root))
	projecttest.Holds(t, root, "hack/check.sh", "go test ./internal/controller/batch ./api/batch/v1/...\ncat api/batch/v1/cronjob_types.go\n")
	projecttest.Holds(t, root, "api/batch/v1/doc.txt", "mine\n")
	projecttest.Holds(t, root, "vendor/x/x.go", `"example.com/op/api/v1"`)
	projecttest.Apply(t)(one(root))
	after := projecttest.Tree(t, root)
	delete(before, base.Path)
	delete(after, base.Path)
	if diff := cmp.Diff(before, after); diff != "" {
		t.Error(diff)
	}
}

// TestMentions: which part of a divided folder is meant, only the author of a line knows.
func TestMentions(t *testing.T) {
	root := newProject(t)
	projecttest.Unpack(t, root, "-- hack/check.sh --\nset -e\ncd internal/controller\n")
	changes := projecttest.Apply(t)(several(root))
	i := slices.IndexFunc(changes, func(f report.File) bool { return f.Path == "hack/check.sh" })
	if i < 0 || changes[i].Action != report.Kept || !strings.HasPrefix(changes[i].Why, "line 2 ") {
		t.Errorf("changes are %v", changes)
	}
}

func TestRefusals(t *testing.T) {
	const sharedTypes = "kinds of two groups in a package of types"
	for _, test := range []struct{ name, where, files string }{
		{"a package of another name in the new place", "internal/controller/batch/x.go", "-- internal/controller/batch/x.go --\npackage other\n"},
		{"a file in the new place", "api/batch/v1/cronjob_types.go", "-- api/batch/v1/cronjob_types.go --\npackage v1\n"},
		{"a name of the other part", "internal/controller/deployment_controller.go:3:9", "-- internal/controller/deployment_controller.go --\npackage controller\n\nvar _ = CronJobReconciler{}\n"},
		{"a file that is not Go", "api/v1/broken.go:1:1", "-- api/v1/broken.go --\nnot Go\n"},
		{"a user of it that is not Go", "hack/gen.go:3:8", "-- hack/gen.go --\npackage main\n\nimport \"example.com/op/api/v1\n"},
		{"an import without a name", "hack/gen.go", "-- hack/gen.go --\npackage main\n\nimport . \"example.com/op/internal/controller\"\n"},
		{sharedTypes, "api/v1", "-- api/v1/deployment_types.go --\npackage v1\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := newProject(t)
			projecttest.Unpack(t, root, test.files)
			if test.name == sharedTypes {
				text := projecttest.Read(t, root, "PROJECT")
				projecttest.Unpack(t, root, "-- PROJECT --\n"+strings.Replace(text, "- core: true\n", "- api:\n    crdVersion: v1\n", 1))
			}
			_, err := several(root)
			if refusal, ok := errors.AsType[*report.Error](err); !ok || refusal.Where != test.where {
				t.Errorf("got %v, want a refusal of %s", err, test.where)
			}
		})
	}
}

// TestNestedModule: types that are published as a part of a nested module stay in it.
func TestNestedModule(t *testing.T) {
	root := t.TempDir()
	projecttest.Unpack(t, root, `
-- PROJECT --
domain: example.com
repo: example.com/op
resources:
- group: ship
  kind: Brig
  version: v1
version: "2"
-- go.mod --
module example.com/op
-- api/go.mod --
module example.com/op/api
-- api/v1/brig_types.go --
package v1

type Brig struct{}
`)
	_, err := several(root)
	refusal, ok := errors.AsType[*report.Error](err)
	if !ok || refusal.Where != "api/go.mod:1" || !strings.Contains(refusal.What, "imports example.com/op/api/v1") {
		t.Errorf("got %v", err)
	}
}

// TestRoomForOneGroup: with kinds of two groups there is no way back.
func TestRoomForOneGroup(t *testing.T) {
	root := projecttest.New(t, newproject.Options{MultiGroup: true})
	for _, group := range []string{"batch", "ship"} {
		projecttest.Apply(t)(newapi.Create(fileview.Disk(root), newapi.Options{Group: group, Version: "v1", Kind: "Job", Resource: true}))
	}
	_, err := one(root)
	if refusal, ok := errors.AsType[*report.Error](err); !ok || refusal.Where != "--multigroup=false" {
		t.Errorf("got %v", err)
	}
}

// TestUnlistedGroup: a group that only the code has would stay where it is, apart from the rest.
func TestUnlistedGroup(t *testing.T) {
	root := projecttest.New(t, newproject.Options{MultiGroup: true})
	for _, group := range []string{"ship", "batch"} {
		if group == "batch" {
			projecttest.Unpack(t, root, "-- before --\n"+projecttest.Read(t, root, "PROJECT"))
		}
		projecttest.Apply(t)(newapi.Create(fileview.Disk(root), newapi.Options{Group: group, Version: "v1", Kind: "Job", Resource: true}))
	}
	projecttest.Unpack(t, root, "-- PROJECT --\n"+projecttest.Read(t, root, "before"))
	_, err := one(root)
	refusal, ok := errors.AsType[*report.Error](err)
	if !ok || refusal.What != "the project has APIs of the groups ship, batch" || !strings.Contains(refusal.Hint, "batch, which is at api/batch/v1/job_types.go:") {
		t.Errorf("got %+v", err)
	}
	if err := os.RemoveAll(filepath.Join(root, "api/batch")); err != nil {
		t.Fatal(err)
	}
	if _, err := one(root); err != nil {
		t.Errorf("without it: %v", err)
	}
}

// TestUnlistedKinds: packages move whether PROJECT lists their kinds or not, so that later ones go beside them.
func TestUnlistedKinds(t *testing.T) {
	root := t.TempDir()
	projecttest.Unpack(t, root, `
-- PROJECT --
version: "2"
domain: example.com
repo: example.com/op
-- go.mod --
module example.com/op
-- main.go --
package main

import (
	batchv1 "example.com/op/api/v1"
	"example.com/op/controllers"
)

var _, _ = batchv1.Job{}, controllers.JobReconciler{}
-- api/v1/job_types.go --
// +groupName=batch.example.com
package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

type Job struct {
	metav1.TypeMeta
	metav1.ObjectMeta
}
-- api/v1/job_webhook.go --
package v1
-- controllers/job_controller.go --
package controllers

type JobReconciler struct{}
`)
	projecttest.Apply(t)(several(root))
	projecttest.Holds(t, root, "main.go", `batchv1 "example.com/op/apis/batch/v1"`, `"example.com/op/controllers/batch"`)
	projecttest.Holds(t, root, "PROJECT", "multigroup: true", "!resources")
	tree := projecttest.Tree(t, root)
	for _, name := range []string{"apis/batch/v1/job_types.go", "apis/batch/v1/job_webhook.go", "controllers/batch/job_controller.go"} {
		if _, there := tree[name]; !there {
			t.Errorf("there is no %s", name)
		}
	}
}

// TestRemovedSuite: a suite that its author removed does not come back.
func TestRemovedSuite(t *testing.T) {
	root := newProject(t)
	if err := os.Remove(filepath.Join(root, "internal/webhook/v1/webhook_suite_test.go")); err != nil {
		t.Fatal(err)
	}
	for _, c := range projecttest.Apply(t)(several(root)) {
		if strings.HasSuffix(c.Path, "webhook_suite_test.go") {
			t.Errorf("%s is %s", c.Path, c.Action)
		}
	}
}
