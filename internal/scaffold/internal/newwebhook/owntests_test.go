package newwebhook_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/newproject"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/newwebhook"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projecttest"
)

const (
	webhookTest  = "internal/webhook/v1/cronjob_webhook_test.go"
	functionTest = "internal/webhook/v1/cronjob_admission_test.go"
	webhookSuite = "internal/webhook/v1/webhook_suite_test.go"
)

// TestOwnSuite: beside a suite that its authors wrote, in any file of the package, no second one comes. Tests call the
// webhooks themselves, in the words of that suite.
func TestOwnSuite(t *testing.T) {
	const ginkgo = "import (\n\t. \"github.com/onsi/ginkgo/v2\"\n\t. \"github.com/onsi/gomega\"\n)\n\nfunc TestAPIs(t *testing.T) { RunSpecs(t, \"Webhook Suite\") }\n"
	for name, test := range map[string]struct {
		suite string
		file  string
		holds []string // in the test of the kind; nothing means that there is none
	}{
		"of Ginkgo's": {ginkgo, webhookTest, []string{". \"github.com/onsi/ginkgo/v2\"\n", "Describe(\"CronJobDefaulter\",", "Describe(\"CronJobValidator\",",
			"validation/field\"", "!testing.T", "!k8sClient", "!samples"}},
		"of Ginkgo's with names":       {"import \"github.com/onsi/ginkgo/v2\"\n\nfunc TestAPIs(t *testing.T) { ginkgo.RunSpecs(t, \"\") }\n", webhookTest, nil},
		"with a TestMain":              {"func TestMain(m *testing.M) {}\n", functionTest, []string{"func TestCronJobDefaulting(", "&CronJobDefaulter{}).Default(", "!k8sClient"}},
		"with a function of the tests": {"func TestMain(m *testing.M) {}\n\nfunc newCronJob() {}\n", functionTest, nil},
	} {
		t.Run(name, func(t *testing.T) {
			root := newProject(t, newproject.Options{}, "v1")
			const file = "internal/webhook/v1/suite_test.go"
			projecttest.Unpack(t, root, "-- "+file+" --\npackage v1\n\n"+test.suite)
			before := projecttest.Tree(t, root)
			changes := projecttest.Apply(t)(newwebhook.Create(fileview.Disk(root), cronJob(defaulting, validation)))
			if kept := projecttest.Paths(changes, report.Kept); !slices.Contains(kept, file) || projecttest.Read(t, root, file) != before[file] {
				t.Errorf("kept are %v", kept)
			}
			created := projecttest.Paths(changes, report.Created)
			if slices.Contains(created, webhookSuite) || slices.Contains(created, test.file) != (test.holds != nil) {
				t.Errorf("created are %v", created)
			}
			if test.holds != nil {
				projecttest.Holds(t, root, test.file, test.holds...)
			}
		})
	}
}

// TestMoreSpecs: a validator that comes later gets specs in the file of the defaulter's, and none where an author wrote
// that file.
func TestMoreSpecs(t *testing.T) {
	const suite = "-- internal/webhook/v1/suite_test.go --\npackage v1\n\nimport (\n\t. \"github.com/onsi/ginkgo/v2\"\n\t. \"github.com/onsi/gomega\"\n)\n\nfunc TestAPIs(t *testing.T) { RunSpecs(t, \"\") }\n"
	root := newProject(t, newproject.Options{}, "v1")
	projecttest.Unpack(t, root, suite)
	projecttest.Apply(t)(newwebhook.Create(fileview.Disk(root), cronJob(defaulting)))
	projecttest.Holds(t, root, webhookTest, "!CronJobValidator", "!validation/field")
	projecttest.Apply(t)(newwebhook.Create(fileview.Disk(root), cronJob(defaulting, validation)))
	projecttest.Holds(t, root, webhookTest, "CronJobDefaulter", "CronJobValidator", "validation/field")

	root = newProject(t, newproject.Options{}, "v1")
	const own = "package v1\n\nvar _ = Describe(\"CronJob\", nil)\n"
	projecttest.Unpack(t, root, suite+"-- "+webhookTest+" --\n"+own)
	projecttest.Apply(t)(newwebhook.Create(fileview.Disk(root), cronJob(validation)))
	if got := projecttest.Read(t, root, webhookTest); got != own {
		t.Errorf("the tests are now\n%s", got)
	}
}

// TestNoSample: where samples are elsewhere, no test reads one, and none needs a control plane.
func TestNoSample(t *testing.T) {
	root := newProject(t, newproject.Options{}, "v1")
	if err := os.RemoveAll(filepath.Join(root, "config", "samples")); err != nil {
		t.Fatal(err)
	}
	changes := projecttest.Apply(t)(newwebhook.Create(fileview.Disk(root), cronJob(defaulting, validation)))
	projecttest.Holds(t, root, functionTest, "func newCronJob(*testing.T) *batchv1.CronJob { return &batchv1.CronJob{} }", "&CronJobDefaulter{}).Default(", "!k8sClient", "!samples")
	if created := projecttest.Paths(changes, report.Created); slices.Contains(created, webhookSuite) {
		t.Errorf("created are %v", created)
	}
}
