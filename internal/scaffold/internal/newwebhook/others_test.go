package newwebhook_test

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"testing"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/newproject"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/newwebhook"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projecttest"
)

// TestMadeByOthers: webhooks that another tool made, in the layout's own file, are left as they are with all around
// them; one that is missing there comes with what it needs alone.
func TestMadeByOthers(t *testing.T) {
	root := newProject(t, newproject.Options{}, "v1")
	projecttest.Apply(t)(newwebhook.Create(fileview.Disk(root), cronJob(defaulting)))
	if err := os.Remove(filepath.Join(root, ".slipway", "base")); err != nil { // nothing is ours now
		t.Fatal(err)
	}
	const file = "internal/webhook/v1/cronjob_webhook.go"
	projecttest.Unpack(t, root, "-- "+file+" --\n"+`package v1

import (
	"context"

	batchv1 "example.com/op/api/v1"
	ctrl "sigs.k8s.io/controller-runtime"
)

func SetupCronJobWebhookWithManager(mgr ctrl.Manager) error {
	return ctrl.NewWebhookManagedBy(mgr, &batchv1.CronJob{}).
		WithDefaulter(&CronJobDefaulter{}).
		Complete()
}

// +kubebuilder:webhook:path=/mutate-batch-example-com-v1-cronjob,mutating=true,failurePolicy=fail

type CronJobDefaulter struct{}

func (CronJobDefaulter) Default(context.Context, *batchv1.CronJob) error { return nil }
`)
	p, err := newwebhook.Create(fileview.Disk(root), cronJob(defaulting))
	if err != nil {
		t.Fatal(err)
	}
	if want := "the project has these webhooks of batch.example.com/v1 CronJob, in " + file + ":16, already"; !p.Empty() || p.Because() != want {
		t.Errorf("it plans %v because %q", p.Changes(), p.Because())
	}
	projecttest.Apply(t)(newwebhook.Create(fileview.Disk(root), cronJob(defaulting, validation)))
	projecttest.Holds(t, root, file, "type CronJobValidator struct", "\"reflect\"", "!pkg/log\"")
}

// TestAdvisesTypes: where PROJECT lacks the kind, what is advised is a command that works.
func TestAdvisesTypes(t *testing.T) {
	for _, test := range []struct{ name, files, where, next string }{
		{"another version", "", "PROJECT", "slipway create api --group batch --version v2 --kind CronJob --resource --controller=false"},
		{
			"in the code", "-- apis/v2/cronjob_types.go --\n// +groupName=batch.example.com\npackage v2\n\ntype CronJob struct {\n\tmetav1.TypeMeta\n\tmetav1.ObjectMeta\n}\n",
			"apis/v2/cronjob_types.go:4", "slipway create api --group batch --version v2 --kind CronJob --resource --controller=false",
		},
	} {
		root := newProject(t, newproject.Options{}, "v1")
		projecttest.Unpack(t, root, test.files)
		_, err := newwebhook.Create(fileview.Disk(root), cronJob(conversion, of("batch", "v2", "CronJob")))
		if refusal, ok := errors.AsType[*report.Error](err); !ok || refusal.Where != test.where || refusal.Next != test.next {
			t.Errorf("%s: got %v", test.name, err)
		}
	}
}

// TestConvertsAlready: methods of a conversion are not declared a second time.
func TestConvertsAlready(t *testing.T) {
	for _, file := range []string{"api/v1/hub.go", "api/v2/convert.go"} {
		root := newProject(t, newproject.Options{}, "v1", "v2")
		projecttest.Unpack(t, root, "-- "+file+" --\npackage "+path.Base(path.Dir(file))+"\n\nfunc (c *CronJob) "+map[string]string{"hub.go": "Hub", "convert.go": "ConvertTo"}[path.Base(file)]+"() {}\n")
		_, err := newwebhook.Create(fileview.Disk(root), cronJob(conversion))
		if refusal, ok := errors.AsType[*report.Error](err); !ok || refusal.Where != file+":3" {
			t.Errorf("got %v", err)
		}
	}
}

// TestUnrecorded: webhooks that their author wrote and PROJECT lacks get their entry there, and what the manager lacks
// of them. Their code and tests stay.
func TestUnrecorded(t *testing.T) {
	const file, setUp = "internal/webhook/v1/cronjob_webhook.go", "func SetupCronJobWebhookWithManager(mgr ctrl.Manager) error { return nil }\n"
	const markers = `package v1

// +kubebuilder:webhook:path=/mutate-batch-example-com-v1-cronjob,mutating=true,failurePolicy=fail
// +kubebuilder:webhook:path=/validate-batch-example-com-v1-cronjob,mutating=false,failurePolicy=fail

type CronJobWebhooks struct{}

`
	const tests = "package v1\n\nimport \"testing\"\n\nfunc TestAll(t *testing.T) {}\n"
	for name, test := range map[string]struct{ code, main string }{
		"with the function that the manager calls": {markers + setUp, "webhookv1.SetupCronJobWebhookWithManager(mgr)"},
		"with another one":                         {markers, "!SetupCronJobWebhookWithManager"},
	} {
		t.Run(name, func(t *testing.T) {
			root := newProject(t, newproject.Options{}, "v1")
			projecttest.Unpack(t, root, "-- "+file+" --\n"+test.code+"-- "+webhookTest+" --\n"+tests)
			changes := projecttest.Apply(t)(newwebhook.Create(fileview.Disk(root), cronJob(validation)))
			if kept := projecttest.Paths(changes, report.Kept); !slices.Contains(kept, webhookTest) {
				t.Errorf("kept are %v", kept)
			}
			if created := goFiles(changes); slices.Contains(created, webhookSuite) {
				t.Errorf("created are %v", created)
			}
			if code := projecttest.Read(t, root, file) + projecttest.Read(t, root, webhookTest); code != test.code+tests {
				t.Errorf("the code is now\n%s", code)
			}
			projecttest.Holds(t, root, "PROJECT", "  webhooks:\n    validation: true\n")
			projecttest.Holds(t, root, "cmd/main.go", test.main)
		})
	}
}

// TestOthersTests: a webhook that is new beside one that its author wrote gets no tests in a file that has not what
// they use.
func TestOthersTests(t *testing.T) {
	const tests = "package v1\n\nfunc TestAll(t *testing.T) {}\n"
	root := newProject(t, newproject.Options{}, "v1")
	projecttest.Unpack(t, root, "-- "+webhookTest+" --\n"+tests)
	projecttest.Apply(t)(newwebhook.Create(fileview.Disk(root), cronJob(validation)))
	if got := projecttest.Read(t, root, webhookTest); got != tests {
		t.Errorf("the tests are now\n%s", got)
	}
}
