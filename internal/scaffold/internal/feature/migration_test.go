package feature_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/features"
	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/feature"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/newapi"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projectfile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projecttest"
)

const migration = "internal/manager/migration.go"

// TestMigratedKinds: the migration has each kind of the project once, whenever the kind is created.
func TestMigratedKinds(t *testing.T) {
	root := newProject(t)
	create := func(o newapi.Options) {
		t.Helper()
		projecttest.Apply(t)(newapi.Create(fileview.Disk(root), o))
	}
	create(newapi.Options{Group: "apps", Version: "v1", Kind: "Deployment", Controller: true}) // not the project's
	projecttest.Apply(t)(projectfile.Edit(fileview.Disk(root), feature.Enable(features.Migration)))
	create(newapi.Options{Group: "batch", Version: "v2", Kind: "CronJob", Resource: true})
	create(newapi.Options{Group: "batch", Version: "v1", Kind: "Ship", Plural: "fleet", Resource: true})
	projecttest.Holds(t, root, migration, "\t\"cronjobs.batch.example.com\",\n\t\"fleet.batch.example.com\",\n\t// +slipway", "!deployments")
	code := projecttest.Read(t, root, migration)
	for _, once := range []string{
		`"cronjobs.batch.example.com"`, "customresourcedefinitions,verbs=get,resourceNames=cronjobs.batch.example.com\n",
		"customresourcedefinitions/status,verbs=patch,resourceNames=fleet.batch.example.com\n", "groups=batch.example.com,resources=fleet,verbs=get;list;patch\n",
	} {
		if n := strings.Count(code, once); n != 1 {
			t.Errorf("%d times %s", n, once)
		}
	}

	projecttest.Unpack(t, root, "-- "+migration+" --\npackage manager\n\nvar definitions []string\n")
	plan, err := newapi.Create(fileview.Disk(root), newapi.Options{Group: "batch", Version: "v1", Kind: "Raft", Resource: true})
	projecttest.Apply(t)(plan, err)
	if left := strings.Join(plan.Left(), "\n"); !strings.Contains(left, "\"rafts.batch.example.com\",\n// +kubebuilder:rbac:") {
		t.Errorf("without its places it is left: %q", left)
	}
}

// TestMigrationOfOthers: the manager of another tool migrates, too.
func TestMigrationOfOthers(t *testing.T) {
	root := newProject(t)
	byAnotherTool(t, root)
	projecttest.Apply(t)(projectfile.Edit(fileview.Disk(root), feature.Enable(features.Migration)))
	projecttest.Holds(t, root, migration, `"cronjobs.batch.example.com"`)
	projecttest.Holds(t, root, "cmd/main.go", "manager.MigrateStorage(mgr)")
}

// TestMigrationOfOneNamespace: a manager that reads one namespace cannot know that all objects are migrated.
func TestMigrationOfOneNamespace(t *testing.T) {
	root := newProject(t)
	projecttest.Apply(t)(projectfile.Edit(fileview.Disk(root), feature.InNamespace(true)))
	err := second(projectfile.Edit(fileview.Disk(root), feature.Enable(features.Migration)))
	if refusal, ok := errors.AsType[*report.Error](err); !ok || refusal.Where != "cmd/main.go" {
		t.Errorf("got %v", err)
	}
}
