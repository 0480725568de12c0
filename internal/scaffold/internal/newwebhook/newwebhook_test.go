package newwebhook_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/features"
	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/kind"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/newapi"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/newproject"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/newwebhook"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projectfile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projecttest"
)

// cronJob are options for the kind of the test's project, changed by the functions.
func cronJob(changes ...func(*newwebhook.Options)) newwebhook.Options {
	o := newwebhook.Options{Group: "batch", Version: "v1", Kind: "CronJob"}
	for _, change := range changes {
		change(&o)
	}
	return o
}

func defaulting(o *newwebhook.Options) { o.Defaulting = true }
func validation(o *newwebhook.Options) { o.Validation = true }
func conversion(o *newwebhook.Options) { o.Conversion = true }

func of(group, version, name string) func(*newwebhook.Options) {
	return func(o *newwebhook.Options) { o.Group, o.Version, o.Kind = group, version, name }
}

func spokes(versions ...string) func(*newwebhook.Options) {
	return func(o *newwebhook.Options) { o.Spokes = versions }
}

func keptBy(f features.Name) func(*newwebhook.Options) {
	return func(o *newwebhook.Options) { o.Certificates = f }
}

func external(o *newwebhook.Options) {
	o.External = kind.External{Path: "example.org/certs/pkg/apis/v1", Domain: "certs.io"}
}

// newProject has a CronJob of the versions, the first of which has a controller.
func newProject(t *testing.T, o newproject.Options, versions ...string) string {
	t.Helper()
	root := projecttest.New(t, o)
	for i, version := range versions {
		projecttest.Apply(t)(newapi.Create(fileview.Disk(root), newapi.Options{Group: "batch", Version: version, Kind: "CronJob", Resource: true, Controller: i == 0, Namespaced: true}))
	}
	return root
}

func TestCreate(t *testing.T) {
	const dir = "internal/webhook/v1/"
	const server = "internal/manager/certificate.go"
	ours := []string{server, dir + "cronjob_admission_test.go", dir + "cronjob_webhook.go", dir + "webhook_suite_test.go"}
	for _, test := range []struct {
		name    string
		project newproject.Options
		options newwebhook.Options
		created []string // the Go files
		holds   map[string][]string
	}{
		{"defaulting", newproject.Options{}, cronJob(defaulting), ours, map[string][]string{
			"PROJECT":                           {"  webhooks:\n    defaulting: true\n    webhookVersion: v1\n", "!validation"},
			"cmd/main.go":                       {"webhookv1.SetupCronJobWebhookWithManager(mgr)", "mgr.GetWebhookServer().StartedChecker("},
			dir + "cronjob_webhook.go":          {"WithDefaulter(&CronJobDefaulter{})", "path=/mutate-batch-example-com-v1-cronjob,", "// Package v1 ", "!Validator"},
			dir + "webhook_suite_test.go":       {"utilruntime.Must(batchv1.AddToScheme(scheme.Scheme))", "SetupCronJobWebhookWithManager(mgr)"},
			dir + "cronjob_admission_test.go":   {"func TestCronJobDefaulting(", "!func TestCronJobValidation("},
			"config/default/kustomization.yaml": {"- ../webhook\n"},
		}},
		{"validation at a path", newproject.Options{}, cronJob(validation, func(o *newwebhook.Options) { o.ValidationPath = "/check-jobs" }), ours, map[string][]string{
			"PROJECT":                  {"    validation: true\n", "    validationPath: /check-jobs\n"},
			dir + "cronjob_webhook.go": {"WithValidator(&CronJobValidator{})", `WithValidatorCustomPath("/check-jobs")`, "path=/check-jobs,", "!Defaulter"},
		}},
		{"of several groups, with its own certificates", newproject.Options{MultiGroup: true}, cronJob(defaulting, validation, keptBy(features.SelfCert)), []string{
			server,
			"internal/webhook/batch/v1/cronjob_admission_test.go", "internal/webhook/batch/v1/cronjob_webhook.go", "internal/webhook/batch/v1/webhook_suite_test.go",
		}, map[string][]string{
			"cmd/main.go": {"webhookbatchv1.SetupCronJobWebhookWithManager(mgr)"},
			"internal/webhook/batch/v1/webhook_suite_test.go": {`"..", "..", "..", ".."`},
			"config/default/kustomization.yaml":               {"- ../webhook\n", "- ../selfcert\n"},
		}},
		{"of a kind of Kubernetes", newproject.Options{}, cronJob(validation, of("core", "v1", "Pod")), []string{
			server, dir + "pod_admission_test.go", dir + "pod_webhook.go", dir + "webhook_suite_test.go",
		}, map[string][]string{
			"PROJECT":              {"- core: true\n", "  path: k8s.io/api/core/v1\n"},
			"cmd/main.go":          {"webhookv1.SetupPodWebhookWithManager(mgr)", "!corev1.AddToScheme"},
			"go.mod":               {"!k8s.io/api v0.37.1 // indirect"},
			dir + "pod_webhook.go": {`groups="",`},
		}},
		{"of a kind of another module, which no server knows", newproject.Options{}, cronJob(validation, external, of("acme", "v1", "Certificate")), []string{
			server, dir + "certificate_admission_test.go", dir + "certificate_webhook.go",
		}, map[string][]string{
			"PROJECT":     {"  external: true\n"},
			"cmd/main.go": {"acmev1.AddToScheme(scheme)"},
			"go.mod":      {"\texample.org/certs v1.0.0\n"},
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := newProject(t, test.project, "v1")
			projecttest.Unpack(t, root, "-- go.mod --\n"+projecttest.Read(t, root, "go.mod")+"\nrequire example.org/certs v1.0.0 // indirect\n")
			changes := projecttest.Apply(t)(newwebhook.Create(fileview.Disk(root), test.options))
			if diff := cmp.Diff(test.created, goFiles(changes)); diff != "" {
				t.Errorf("Go files that are created: %s", diff)
			}
			for file, texts := range test.holds {
				projecttest.Holds(t, root, file, texts...)
			}
		})
	}
}

func goFiles(changes []report.File) []string {
	return slices.DeleteFunc(projecttest.Paths(changes, report.Created), func(name string) bool { return len(name) < 3 || name[len(name)-3:] != ".go" })
}

// TestConversion: one version is the hub, and the others know how to become it and how to be made of it.
func TestConversion(t *testing.T) {
	root := newProject(t, newproject.Options{}, "v1", "v2")
	changes := projecttest.Apply(t)(newwebhook.Create(fileview.Disk(root), cronJob(conversion)))
	want := []string{
		"api/v1/cronjob_conversion.go", "api/v2/cronjob_conversion.go", "api/v2/cronjob_conversion_test.go",
		"internal/manager/certificate.go", "internal/webhook/v1/cronjob_admission_test.go", "internal/webhook/v1/cronjob_webhook.go",
		"internal/webhook/v1/webhook_suite_test.go",
	}
	if diff := cmp.Diff(want, goFiles(changes)); diff != "" {
		t.Errorf("Go files that are created: %s", diff)
	}
	projecttest.Holds(t, root, "PROJECT", "    conversion: true\n    spoke:\n    - v2\n")
	projecttest.Holds(t, root, "api/v1/cronjob_conversion.go", "func (*CronJob) Hub()")
	projecttest.Holds(t, root, "api/v2/cronjob_conversion.go", "dst.Spec = batchv1.CronJobSpec(src.Spec)\n")
	projecttest.Holds(t, root, "internal/webhook/v1/cronjob_admission_test.go", "func TestCronJobConversionToV2(")
	projecttest.Holds(t, root, "internal/webhook/v1/webhook_suite_test.go", "batchv1.AddToScheme(", "batchv2.AddToScheme(")

	// A version more is a spoke more, of the same hub.
	projecttest.Apply(t)(newapi.Create(fileview.Disk(root), newapi.Options{Group: "batch", Version: "v3", Kind: "CronJob", Resource: true}))
	projecttest.Apply(t)(newwebhook.Create(fileview.Disk(root), cronJob(conversion, spokes("v3"))))
	projecttest.Holds(t, root, "PROJECT", "    spoke:\n    - v2\n    - v3\n")
}

// TestMore: webhooks of another sort join those that are there, and the same ones again are no mistake.
func TestMore(t *testing.T) {
	root := newProject(t, newproject.Options{}, "v1")
	projecttest.Apply(t)(newwebhook.Create(fileview.Disk(root), cronJob(defaulting)))
	changes := projecttest.Apply(t)(newwebhook.Create(fileview.Disk(root), cronJob(validation)))
	if created := projecttest.Paths(changes, report.Created); created != nil {
		t.Errorf("%v are created", created)
	}
	projecttest.Holds(t, root, "PROJECT", "    defaulting: true\n    validation: true\n")
	projecttest.Holds(t, root, "internal/webhook/v1/cronjob_webhook.go", "WithDefaulter(", "WithValidator(")

	projecttest.Apply(t)(newapi.Create(fileview.Disk(root), newapi.Options{Group: "batch", Version: "v1", Kind: "Job", Resource: true}))
	projecttest.Apply(t)(newwebhook.Create(fileview.Disk(root), cronJob(validation, of("batch", "v1", "Job"))))
	projecttest.Holds(t, root, "internal/webhook/v1/job_webhook.go", "!// Package v1 ") // the other file of the package has it

	p, err := newwebhook.Create(fileview.Disk(root), cronJob(validation))
	if err != nil {
		t.Fatal(err)
	}
	const because = "the project has these webhooks of batch.example.com/v1 CronJob, in internal/webhook/v1/cronjob_webhook.go, already"
	if !p.Empty() || p.Because() != because {
		t.Errorf("a second time plans %v because %q", p.Changes(), p.Because())
	}
}

// TestElsewhere: a webhook that the project has in a file of its own choice is not made a second time.
func TestElsewhere(t *testing.T) {
	root := newProject(t, newproject.Options{}, "v1")
	const code = "package webhooks\n\n// +kubebuilder:webhook:mutating=true,path=/mutate-batch-example-com-v1-cronjob,failurePolicy=fail\n\ntype defaulter struct{}\n"
	projecttest.Unpack(t, root, "-- pkg/webhooks/cronjob.go --\n"+code+"-- vendor/example.org/v/v.go --\n"+
		strings.Replace(code, "/mutate-", "/validate-", 1)+"-- tools/go.mod --\nmodule example.org/tools\n-- tools/t.go --\n"+strings.Replace(code, "/mutate-", "/validate-", 1))

	for _, test := range []struct {
		options newwebhook.Options
		next    string
	}{
		{cronJob(defaulting), ""},
		{cronJob(defaulting, validation), "slipway create webhook --group batch --version v1 --kind CronJob --programmatic-validation"},
	} {
		_, err := newwebhook.Create(fileview.Disk(root), test.options)
		var e *report.Error
		if !errors.As(err, &e) || e.What != "the project already has this webhook" || e.Where != "pkg/webhooks/cronjob.go:3" || e.Next != test.next {
			t.Errorf("%v", err)
		}
	}
	projecttest.Apply(t)(newwebhook.Create(fileview.Disk(root), cronJob(validation))) // no other module has it for the project
	projecttest.Apply(t)(newwebhook.Create(fileview.Disk(root), cronJob(defaulting, func(o *newwebhook.Options) { o.DefaultingPath = "/other" })))

	p, err := newwebhook.Create(fileview.Disk(root), cronJob(defaulting)) // PROJECT has it now
	if err != nil {
		t.Fatal(err)
	}
	if want := "the project has these webhooks of batch.example.com/v1 CronJob, in pkg/webhooks/cronjob.go:3, already"; !p.Empty() || p.Because() != want {
		t.Errorf("it plans %v because %q", p.Changes(), p.Because())
	}
}

// TestGinkgoSuite: a suite of Ginkgo's sets the webhooks up in its own words, and gets no tests in other ones.
func TestGinkgoSuite(t *testing.T) {
	root := newProject(t, newproject.Options{}, "v1", "v2")
	projecttest.Unpack(t, root, `
-- internal/webhook/v1/webhook_suite_test.go --
package v1

import (
	. "github.com/onsi/ginkgo/v2"
	// +kubebuilder:scaffold:imports
)

func TestWebhooks(t *testing.T) {
	RunSpecs(t, "Webhook Suite")
}

var _ = BeforeSuite(func() {
	// +kubebuilder:scaffold:scheme

	// +kubebuilder:scaffold:webhook
})
`)
	changes := projecttest.Apply(t)(newwebhook.Create(fileview.Disk(root), cronJob(validation, conversion)))
	projecttest.Holds(t, root, "internal/webhook/v1/webhook_suite_test.go",
		"\tExpect(batchv1.AddToScheme(scheme.Scheme)).To(Succeed())\n", "\tExpect(SetupCronJobWebhookWithManager(mgr)).To(Succeed()) // the CronJob webhooks\n")
	if slices.Contains(goFiles(changes), "internal/webhook/v1/cronjob_admission_test.go") {
		t.Error("plain tests were added to a suite of Ginkgo's")
	}
}

func TestRefusals(t *testing.T) {
	one, three := newProject(t, newproject.Options{}, "v1"), newProject(t, newproject.Options{}, "v1", "v2", "v3")
	hub := newProject(t, newproject.Options{}, "v1", "v2")
	projecttest.Apply(t)(newwebhook.Create(fileview.Disk(hub), cronJob(conversion)))
	for _, test := range []struct {
		name, where, root string
		options           newwebhook.Options
	}{
		{"nothing", "--defaulting, --programmatic-validation, --conversion", one, cronJob()},
		{"a kind that does not exist", "PROJECT", one, cronJob(defaulting, of("batch", "v1", "Job"))},
		{"a version that does not exist", "PROJECT", one, cronJob(defaulting, of("batch", "v2", "CronJob"))},
		{"conversion of a kind of Kubernetes", "--conversion", one, cronJob(conversion, of("apps", "v1", "Deployment"))},
		{"conversion of one version", "--conversion", one, cronJob(conversion)},
		{"a second hub", "--version v2", hub, cronJob(conversion, of("batch", "v2", "CronJob"))},
		{"an unknown spoke", "--spoke", three, cronJob(conversion, spokes("v2", "v4"))},
		{"a version that is neither", "--spoke", three, cronJob(conversion, spokes("v2"))},
		{"spokes without conversion", "--spoke", three, cronJob(defaulting, spokes("v2"))},
		{"a path without its webhook", "--validation-path", one, cronJob(defaulting, func(o *newwebhook.Options) { o.ValidationPath = "/x" })},
		{"a path that is none", "--defaulting-path", one, cronJob(defaulting, func(o *newwebhook.Options) { o.DefaultingPath = "x/" })},
		{"a kind that is none", "--kind", one, cronJob(defaulting, of("batch", "v1", "cronJob"))},
		{"an external path that is none", "--external-api-path ../x", one, cronJob(defaulting, func(o *newwebhook.Options) { o.External.Path = "../x" })},
	} {
		t.Run(test.name, func(t *testing.T) {
			for call, err := range map[string]error{"Check": newwebhook.Check(fileview.Disk(test.root), test.options), "Create": second(newwebhook.Create(fileview.Disk(test.root), test.options))} {
				if refusal, ok := errors.AsType[*report.Error](err); !ok || refusal.Where != test.where {
					t.Errorf("%s gives %v, want a refusal of %s", call, err, test.where)
				}
			}
		})
	}
	if err := newwebhook.Check(fileview.Disk(one), cronJob(conversion)); !errors.Is(err, newwebhook.ErrOneVersion) {
		t.Errorf("conversion of one version gives %v", err)
	}
	if err := second(newwebhook.Create(fileview.Disk(one), cronJob(defaulting, external, of("acme", "v1", "Certificate")))); err == nil {
		t.Error("types of a module that go.mod does not require are taken")
	}
}

func second(_ *plan.Plan, err error) error { return err }

// TestRecord: what a project needs of webhooks is what Create made of them, and what is generated from that.
func TestRecord(t *testing.T) {
	root := newProject(t, newproject.Options{}, "v1", "v2")
	created := projecttest.Paths(projecttest.Apply(t)(newwebhook.Create(fileview.Disk(root), cronJob(defaulting, validation, conversion, keptBy(features.CertManager)))), report.Created)
	p, file, err := projectfile.Open(fileview.Disk(root))
	if err != nil {
		t.Fatal(err)
	}
	var needs plan.Needs
	for _, r := range file.Resources { // v2 has none of its own
		if err := newwebhook.Record(p.Record(&needs), file, r); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range append(created, "config/webhook/manifests.yaml") {
		if !needs.HasFile(name) {
			t.Errorf("%s is not needed", name)
		}
	}
	main := []byte(projecttest.Read(t, root, "cmd/main.go"))
	if len(needs.IDs("cmd/main.go", main)) == 0 {
		t.Error("nothing in cmd/main.go is needed")
	}
}

// TestNearlyTheKind: a kind or a group that is misspelt is answered with the one that is meant, and the call for it.
func TestNearlyTheKind(t *testing.T) {
	root := newProject(t, newproject.Options{}, "v1")
	for _, test := range []struct{ group, kind, hint, next string }{
		{"batch", "CronJop", "did you mean CronJob?", "--group batch --version v1 --kind CronJob"},
		{"bacth", "CronJob", `did you mean the group "batch"?`, "--group batch --version v1 --kind CronJob"},
		{"app", "Deployment", `did you mean the group "apps" of Kubernetes?`, "--group apps --version v1 --kind Deployment"},
	} {
		_, err := newwebhook.Create(fileview.Disk(root), cronJob(of(test.group, "v1", test.kind), defaulting, validation))
		refusal, ok := errors.AsType[*report.Error](err)
		if !ok || refusal.Hint != test.hint || refusal.Next != "slipway create webhook "+test.next+" --defaulting --programmatic-validation" {
			t.Errorf("%s %s: got %v", test.group, test.kind, err)
		}
	}
}
