package newapi_test

import (
	"errors"
	"testing"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/newapi"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/newproject"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projecttest"
)

// TestAnother: a reconciler that is there is the kind's unless it is set up for a type that is no version of the kind.
func TestAnother(t *testing.T) {
	for _, test := range []struct {
		name, imports, setup string
		where                string // of the refusal, or ""
	}{
		{"the kind's", "\"example.com/op/api/v1\"", "For(&v1.CronJob{})", ""},
		{"another version's", "\"example.com/op/api/v2\"", "For(&v2.CronJob{})", ""},
		{"of the kind's API group", "jobs \"example.com/op/jobs\"", "For(&jobs.CronJob{})", ""},
		{"of another API group", "ships \"example.com/op/ships/v1\"", "For(&ships.CronJob{})", "internal/controller/cronjob_controller.go:8"},
		{"another module's", "batchv1 \"k8s.io/api/batch/v1\"", "For(&batchv1.CronJob{})", "internal/controller/cronjob_controller.go:8"},
		{"another kind's", "\"example.com/op/api/v1\"", "For(&v1.Job{})", "internal/controller/cronjob_controller.go:8"},
		{"with both", "batchv1 \"k8s.io/api/batch/v1\"", "For(&batchv1.CronJob{}).For(&unknown.CronJob{})", ""},
		{"without a type", "batchv1 \"k8s.io/api/batch/v1\"", "Watches(&batchv1.CronJob{})", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := projecttest.New(t, newproject.Options{})
			projecttest.Unpack(t, root, "-- jobs/doc.go --\n// +groupName=batch.example.com\n// +versionName=v3\npackage jobs\n"+
				"-- ships/v1/doc.go --\n// +groupName=ship.example.com\npackage v1\n"+
				"-- internal/controller/cronjob_controller.go --\npackage controller\n\nimport "+test.imports+
				"\n\ntype CronJobReconciler struct{}\n\nfunc (r *CronJobReconciler) SetupWithManager() {\n\tb."+test.setup+"\n}\n")
			_, err := newapi.Create(fileview.Disk(root), cronJob())
			if refusal, ok := errors.AsType[*report.Error](err); ok != (test.where != "") || ok && refusal.Where != test.where {
				t.Errorf("got %v, want a refusal at %q", err, test.where)
			}
		})
	}
}
