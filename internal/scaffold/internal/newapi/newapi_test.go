package newapi_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/kind"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/newapi"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/newproject"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projectfile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projecttest"
)

// cronJob is an API as the command asks for it, changed by the functions.
func cronJob(changes ...func(*newapi.Options)) newapi.Options {
	o := newapi.Options{Group: "batch", Version: "v1", Kind: "CronJob", Resource: true, Controller: true, Namespaced: true}
	for _, change := range changes {
		change(&o)
	}
	return o
}

func controllerOnly(o *newapi.Options) { o.Resource = false }
func typesOnly(o *newapi.Options)      { o.Controller = false }
func clusterWide(o *newapi.Options)    { o.Namespaced = false }
func applied(o *newapi.Options)        { o.SSA = true }

func version(v string) func(*newapi.Options) { return func(o *newapi.Options) { o.Version = v } }
func plural(p string) func(*newapi.Options)  { return func(o *newapi.Options) { o.Plural = p } }
func controller(n string) func(*newapi.Options) {
	return func(o *newapi.Options) { o.ControllerName = n }
}

func of(group, name string) func(*newapi.Options) {
	return func(o *newapi.Options) { o.Group, o.Kind = group, name }
}

func running(i newapi.Image) func(*newapi.Options) { return func(o *newapi.Options) { o.Image = i } }

func external(e kind.External) func(*newapi.Options) {
	return func(o *newapi.Options) { o.External = e }
}

var certificates = kind.External{Path: "example.org/certs/pkg/apis/v1", Domain: "certs.io"}

// requireCerts has go.mod require the module of certificates.
func requireCerts(t *testing.T, root string) {
	t.Helper()
	projecttest.Unpack(t, root, "-- go.mod --\n"+projecttest.Read(t, root, "go.mod")+"\nrequire example.org/certs v1.0.0 // indirect\n")
}

func TestCreate(t *testing.T) {
	types := []string{
		"api/v1/cronjob_types.go", "api/v1/groupversion_info.go", "config/crd/kustomization.yaml", "config/rbac/cronjob_admin_role.yaml",
		"config/rbac/cronjob_editor_role.yaml", "config/rbac/cronjob_viewer_role.yaml", "config/samples/batch_v1_cronjob.yaml", "config/samples/kustomization.yaml",
	}
	controllers := []string{"internal/controller/cronjob_controller.go", "internal/controller/cronjob_controller_test.go", "internal/controller/suite_test.go"}
	for _, test := range []struct {
		name    string
		project newproject.Options
		options newapi.Options
		created []string
		holds   map[string][]string
	}{
		{"types and controller", newproject.Options{}, cronJob(), slices.Concat(types, controllers), map[string][]string{
			"PROJECT":                           {"  kind: CronJob\n", "    namespaced: true\n", "  controller: true\n"},
			"api/v1/cronjob_types.go":           {"type CronJob struct", "!+kubebuilder:resource:", "!+genclient"},
			"cmd/main.go":                       {"batchv1.AddToScheme(scheme)", "&controller.CronJobReconciler{"},
			"config/crd/kustomization.yaml":     {"- bases/batch.example.com_cronjobs.yaml\n"},
			"config/default/kustomization.yaml": {"- ../crd\n"},
			"config/rbac/kustomization.yaml":    {"- cronjob_admin_role.yaml\n"},
			"config/samples/kustomization.yaml": {"- batch_v1_cronjob.yaml\n"},
		}},
		{"types alone", newproject.Options{}, cronJob(typesOnly), types, map[string][]string{
			"PROJECT":     {"!controller: true"},
			"cmd/main.go": {"batchv1.AddToScheme(scheme)", "!CronJobReconciler"},
		}},
		{"of the whole cluster, with a plural", newproject.Options{}, cronJob(typesOnly, clusterWide, plural("cronjobz")), types, map[string][]string{
			"PROJECT":                       {"  plural: cronjobz\n", "!namespaced: true"},
			"api/v1/cronjob_types.go":       {"// +kubebuilder:resource:path=cronjobz,scope=Cluster\n"},
			"config/crd/kustomization.yaml": {"- bases/batch.example.com_cronjobz.yaml\n"},
		}},
		{"with apply configurations", newproject.Options{}, cronJob(applied), slices.Concat(types, controllers), map[string][]string{
			"PROJECT":                                   {"    ssa: true\n"},
			"api/v1/cronjob_types.go":                   {"// +genclient\n"},
			"api/v1/groupversion_info.go":               {"// +kubebuilder:ac:generate=true\n"},
			"internal/controller/cronjob_controller.go": {`"example.com/op/api/v1/applyconfiguration/api/v1"`},
		}},
		{"of several groups", newproject.Options{MultiGroup: true}, cronJob(), []string{
			"api/batch/v1/cronjob_types.go", "api/batch/v1/groupversion_info.go", "config/crd/kustomization.yaml", "config/rbac/batch_cronjob_admin_role.yaml",
			"config/rbac/batch_cronjob_editor_role.yaml", "config/rbac/batch_cronjob_viewer_role.yaml", "config/samples/batch_v1_cronjob.yaml", "config/samples/kustomization.yaml",
			"internal/controller/batch/cronjob_controller.go", "internal/controller/batch/cronjob_controller_test.go", "internal/controller/batch/suite_test.go",
		}, map[string][]string{
			"internal/controller/batch/suite_test.go":         {`"..", "..", ".."`},
			"internal/controller/batch/cronjob_controller.go": {`Named("batch-cronjob")`},
		}},
		{"a controller of Kubernetes' own kind", newproject.Options{}, cronJob(controllerOnly, of("apps", "Deployment")), []string{
			"internal/controller/deployment_controller.go", "internal/controller/deployment_controller_test.go", "internal/controller/suite_test.go",
		}, map[string][]string{
			"PROJECT":     {"  core: true\n", "  path: k8s.io/api/apps/v1\n"},
			"cmd/main.go": {"!appsv1.AddToScheme", "&controller.DeploymentReconciler{"},
			"go.mod":      {"k8s.io/api v", "!k8s.io/api v0.37.1 // indirect"},
			"internal/controller/deployment_controller_test.go": {"appsv1.DeploymentSpec{"},
		}},
		{"a controller of a kind of Kubernetes that tests cannot make", newproject.Options{}, cronJob(controllerOnly, of("apiextensions", "CustomResourceDefinition")), []string{
			"internal/controller/customresourcedefinition_controller.go", "internal/controller/customresourcedefinition_controller_test.go", "internal/controller/suite_test.go",
		}, map[string][]string{
			"cmd/main.go": {"apiextensionsv1.AddToScheme(scheme)"},
			"internal/controller/customresourcedefinition_controller_test.go": {"!Create("},
		}},
		{"a controller of another module's kind", newproject.Options{}, cronJob(controllerOnly, of("acme", "Certificate"), external(certificates)), []string{
			"internal/controller/certificate_controller.go", "internal/controller/certificate_controller_test.go", "internal/controller/suite_test.go",
		}, map[string][]string{
			"PROJECT":     {"  external: true\n", "  domain: certs.io\n"},
			"cmd/main.go": {"acmev1.AddToScheme(scheme)"},
			"go.mod":      {"\texample.org/certs v1.0.0\n"},
		}},
		{"a controller that runs an image", newproject.Options{}, cronJob(running(newapi.Image{Name: "cache:1", Command: "serve,-v", Port: "80", User: "5"})), slices.Concat(types, controllers), map[string][]string{
			"PROJECT": {"  deploy-image.go.kubebuilder.io/v1-alpha:\n", "        containerCommand: serve,-v\n", "        image: cache:1\n"},
			"internal/controller/cronjob_controller.go": {`"serve", "-v"`, `"CRONJOB_IMAGE"`},
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := projecttest.New(t, test.project)
			requireCerts(t, root)
			changes := projecttest.Apply(t)(newapi.Create(fileview.Disk(root), test.options))
			if diff := cmp.Diff(test.created, projecttest.Paths(changes, report.Created)); diff != "" {
				t.Errorf("files that are created: %s", diff)
			}
			for file, texts := range test.holds {
				projecttest.Holds(t, root, file, texts...)
			}
		})
	}
}

// TestMore adds to a project that has a CronJob of v1 with a controller.
func TestMore(t *testing.T) {
	for _, test := range []struct {
		name    string
		options newapi.Options
		created []string
		holds   map[string][]string
	}{
		{"a version, which has the plural and the scope of the first", cronJob(typesOnly, clusterWide, version("v2")), []string{
			"api/v2/cronjob_types.go", "api/v2/groupversion_info.go", "config/samples/batch_v2_cronjob.yaml",
		}, map[string][]string{
			"api/v1/cronjob_types.go": {"// +kubebuilder:storageversion\n"},
			"api/v2/cronjob_types.go": {"path=cronjobz", "!scope=Cluster", "!storageversion"},
		}},
		{"a kind, whose controller is in the same suite", cronJob(of("batch", "Job")), []string{
			"api/v1/job_types.go", "config/rbac/job_admin_role.yaml", "config/rbac/job_editor_role.yaml", "config/rbac/job_viewer_role.yaml",
			"config/samples/batch_v1_job.yaml", "internal/controller/job_controller.go", "internal/controller/job_controller_test.go",
		}, map[string][]string{
			"internal/controller/cronjob_controller.go": {"// Package controller "},
			"internal/controller/job_controller.go":     {"!// Package controller "},
		}},
		{"a controller with a name", cronJob(controllerOnly, controller("nightly-jobs")), []string{
			"internal/controller/nightly_jobs_controller.go", "internal/controller/nightly_jobs_controller_test.go",
		}, map[string][]string{
			"PROJECT":     {"  controllers:\n  - name: nightly-jobs\n"},
			"cmd/main.go": {"&controller.CronJobReconciler{", "&controller.NightlyJobsReconciler{"},
			"internal/controller/nightly_jobs_controller.go": {`Named("nightly-jobs")`},
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := projecttest.New(t, newproject.Options{})
			projecttest.Apply(t)(newapi.Create(fileview.Disk(root), cronJob(plural("cronjobz"))))
			changes := projecttest.Apply(t)(newapi.Create(fileview.Disk(root), test.options))
			if diff := cmp.Diff(test.created, projecttest.Paths(changes, report.Created)); diff != "" {
				t.Errorf("files that are created: %s", diff)
			}
			for file, texts := range test.holds {
				projecttest.Holds(t, root, file, texts...)
			}
		})
	}
}

// TestAgain: what is there is kept, what is missing is completed, and nothing at all is no mistake.
func TestAgain(t *testing.T) {
	root := projecttest.New(t, newproject.Options{})
	projecttest.Apply(t)(newapi.Create(fileview.Disk(root), cronJob()))
	p, err := newapi.Create(fileview.Disk(root), cronJob())
	if err != nil {
		t.Fatal(err)
	}
	const because = "the project has batch.example.com/v1 CronJob with a controller, in api/v1/cronjob_types.go, already"
	if !p.Empty() || p.Because() != because {
		t.Errorf("a second time plans %v because %q", p.Changes(), p.Because())
	}

	projecttest.Unpack(t, root, "-- api/v1/cronjob_types.go --\npackage v1\n\n// CronJob is mine.\ntype CronJob struct{}\n")
	projecttest.Unpack(t, root, "-- config/samples/batch_v1_cronjob.yaml --\n# mine\n")
	changes := projecttest.Apply(t)(newapi.Create(fileview.Disk(root), cronJob(applied)))
	if kept := projecttest.Paths(changes, report.Kept); !slices.Contains(kept, "config/samples/batch_v1_cronjob.yaml") {
		t.Errorf("kept are %v", kept)
	}
	projecttest.Holds(t, root, "api/v1/cronjob_types.go", "// CronJob is mine.\n// +genclient\n")
	projecttest.Holds(t, root, "PROJECT", "    ssa: true\n")
}

// TestDeployedFromWithin: where a folder within that of the definitions is deployed, the whole is not, too.
func TestDeployedFromWithin(t *testing.T) {
	for lists, left := range map[string]int{"- ../crd/overlay\n": 1, "- \"../crd/overlay\"\n": 1, "- ../crd\n- ../crd/more.yaml\n": 0, "- ../crds/overlay\n": 0} {
		root := projecttest.New(t, newproject.Options{})
		projecttest.Unpack(t, root, "-- config/default/kustomization.yaml --\nnamespace: op-system\nresources:\n"+lists)
		plan, err := newapi.Create(fileview.Disk(root), newapi.Options{Group: "batch", Version: "v1", Kind: "CronJob", Resource: true})
		if err != nil {
			t.Fatal(err)
		}
		if got := plan.Left(); len(got) != left {
			t.Errorf("with %q it is left to the user: %q", lists, got)
		}
		c, err := plan.Find("config/default/kustomization.yaml")
		if err != nil || left == 1 && strings.Contains(string(c.After()), "- ../crd\n") || left == 0 && !strings.Contains(string(c.After()), "- ../crd\n") {
			t.Errorf("%q becomes %s, %v", lists, c.After(), err)
		}
	}
}

// TestRoleCommentedOut: a role that the project's authors took out of the configuration stays out of it.
func TestRoleCommentedOut(t *testing.T) {
	const list = "config/rbac/kustomization.yaml"
	root := projecttest.New(t, newproject.Options{})
	projecttest.Unpack(t, root, "-- "+list+" --\nresources:\n- role.yaml\n#- cronjob_editor_role.yaml\n")
	projecttest.Apply(t)(newapi.Create(fileview.Disk(root), newapi.Options{Group: "batch", Version: "v1", Kind: "CronJob", Resource: true}))
	projecttest.Holds(t, root, list, "\n#- cronjob_editor_role.yaml\n", "\n- cronjob_viewer_role.yaml\n", "!\n- cronjob_editor_role.yaml")
}

// TestGinkgoSuite: a suite of Ginkgo's learns the types in its own words, and gets no tests in other ones.
func TestGinkgoSuite(t *testing.T) {
	root := projecttest.New(t, newproject.Options{})
	projecttest.Unpack(t, root, `
-- internal/controller/suite_test.go --
package controller

import (
	. "github.com/onsi/ginkgo/v2"
	// +kubebuilder:scaffold:imports
)

func TestControllers(t *testing.T) {
	RunSpecs(t, "Controller Suite")
}

var _ = BeforeSuite(func() {
	// +kubebuilder:scaffold:scheme
})
`)
	changes := projecttest.Apply(t)(newapi.Create(fileview.Disk(root), cronJob()))
	projecttest.Holds(t, root, "internal/controller/suite_test.go", "\tExpect(batchv1.AddToScheme(scheme.Scheme)).To(Succeed())\n")
	if slices.Contains(projecttest.Paths(changes, report.Created), "internal/controller/cronjob_controller_test.go") {
		t.Error("plain tests were added to a suite of Ginkgo's")
	}
}

// TestOwnSuite: beside a suite that its authors wrote without what tests from templates need, no such test is written,
// and no second TestMain.
func TestOwnSuite(t *testing.T) {
	const main = "package controller\n\nfunc TestMain(m *testing.M) {}\n"
	for name, want := range map[string]struct {
		files, why string
		created    []string
	}{
		"knows the types":   {files: "-- internal/controller/suite_test.go --\npackage controller\n\nimport batchv1 \"example.com/op/api/v1\"\n\nfunc TestMain(m *testing.M) {\n\tutilruntime.Must(batchv1.AddToScheme(scheme.Scheme))\n}\n", why: "suite_test.go: it declares neither controlPlane nor k8sClient; add a test for CronJob in its style"},
		"without a client":  {files: "-- internal/controller/suite_test.go --\n" + main, why: "suite_test.go: it declares neither controlPlane nor k8sClient; add a test for CronJob in its style"},
		"in another file":   {files: "-- internal/controller/main_test.go --\n" + main, why: "main_test.go: it declares TestMain already; add a test for CronJob in its style"},
		"in no test":        {files: "-- internal/controller/suite_testx.go --\npackage controller\n\nvar k8sClient client.Client\n", why: "suite_testx.go: it declares k8sClient already; add a test for CronJob in its style"},
		"with a client":     {files: "-- internal/controller/suite_test.go --\n" + main + "\nvar k8sClient client.Client\n", created: []string{"cronjob_controller_test.go"}},
		"client apart":      {files: "-- internal/controller/suite_test.go --\n" + main + "-- internal/controller/client_test.go --\npackage controller\n\nvar ctx, k8sClient = setUp()\n", created: []string{"cronjob_controller_test.go"}},
		"methods and types": {files: "-- internal/controller/other_test.go --\npackage controller\n\ntype cfg struct{}\n\nfunc (cfg) TestMain() {}\n\nfunc f() { k8sClient := 1; _ = k8sClient }\n", created: []string{"cronjob_controller_test.go", "suite_test.go"}},
	} {
		t.Run(name, func(t *testing.T) {
			root := projecttest.New(t, newproject.Options{})
			projecttest.Unpack(t, root, want.files)
			changes := projecttest.Apply(t)(newapi.Create(fileview.Disk(root), cronJob()))
			var created []string
			why := ""
			for _, c := range changes {
				file, inside := strings.CutPrefix(c.Path, "internal/controller/")
				switch {
				case inside && c.Action == report.Created && strings.HasSuffix(file, "_test.go"):
					created = append(created, file)
				case inside && c.Action == report.Kept:
					why = file + ": " + c.Why
				}
			}
			if diff := cmp.Diff(want.created, created); diff != "" || why != want.why {
				t.Errorf("kept is %q; created files (-want +got):\n%s", why, diff)
			}
		})
	}
}

// TestGivenScheme: a suite whose scheme a function of the project makes stays, and the registration is printed.
func TestGivenScheme(t *testing.T) {
	root := projecttest.New(t, newproject.Options{})
	const suite = "package controller\n\nimport \"example.com/op/internal/schemes\"\n\nfunc TestAPIs(t *testing.T) { RunSpecs(t, \"\") }\n\nvar s = schemes.All()\n\nvar c = fake.NewClientBuilder().WithScheme(s).Build()\n"
	projecttest.Unpack(t, root, "-- internal/controller/suite_test.go --\n"+suite)
	p, err := newapi.Create(fileview.Disk(root), cronJob())
	projecttest.Apply(t)(p, err)
	if left := p.Left(); len(left) != 1 || !strings.Contains(left[0], "internal/controller/suite_test.go:") || !strings.Contains(left[0], "batchv1.AddToScheme(scheme.Scheme)") {
		t.Errorf("left to the user are %q", left)
	}
	if got := projecttest.Read(t, root, "internal/controller/suite_test.go"); got != suite {
		t.Errorf("the suite is now\n%s", got)
	}
}

// TestConstructor: a controller that the manager gets from its constructor is not started twice.
func TestConstructor(t *testing.T) {
	root := projecttest.New(t, newproject.Options{})
	const main = "package main\n\nimport (\n\t\"example.com/op/internal/controller\"\n\t// +kubebuilder:scaffold:imports\n)\n\nfunc main() {\n\t// +kubebuilder:scaffold:scheme\n" +
		"\tif err := controller.NewCronJobReconciler(mgr, 1).SetupWithManager(ctx, mgr); err != nil {\n\t\tpanic(err)\n\t}\n\t// +kubebuilder:scaffold:builder\n}\n"
	projecttest.Unpack(t, root, "-- cmd/main.go --\n"+main)
	projecttest.Apply(t)(newapi.Create(fileview.Disk(root), cronJob()))
	projecttest.Holds(t, root, "cmd/main.go", "NewCronJobReconciler(mgr, 1)", "!CronJobReconciler{")
}

func TestRefusals(t *testing.T) {
	root := projecttest.New(t, newproject.Options{})
	projecttest.Apply(t)(newapi.Create(fileview.Disk(root), cronJob()))
	projecttest.Apply(t)(newapi.Create(fileview.Disk(root), cronJob(controllerOnly, controller("nightly"))))
	projecttest.Unpack(t, root, "-- api/v1/other_types.go --\npackage v1\n-- internal/controller/late_controller.go --\npackage controller\n")
	for _, test := range []struct {
		name, where string
		options     newapi.Options
	}{
		{"nothing", "--resource, --controller", cronJob(typesOnly, controllerOnly)},
		{"types of Kubernetes", "--resource", cronJob(external(certificates), of("acme", "Certificate"))},
		{"a controller without types", "--resource=false", cronJob(controllerOnly, of("batch", "Job"))},
		{"another group", "--group ship", cronJob(of("ship", "Frigate"))},
		{"a file that holds something else", "api/v1/other_types.go", cronJob(of("batch", "Other"))},
		{"a controller's file that holds something else", "internal/controller/late_controller.go", cronJob(controllerOnly, controller("late"))},
		{"another plural for a version", "--plural crons", cronJob(typesOnly, version("v2"), plural("crons"))},
		{"a second usual controller", "--controller", cronJob(version("v2"))},
		{"the name of another controller", "--controller-name", cronJob(of("batch", "Job"), controller("nightly"))},
		{"a controller's name without one", "--controller-name", cronJob(typesOnly, controller("x"))},
		{"apply configurations of others' types", "--ssa", cronJob(controllerOnly, applied, of("apps", "Deployment"))},
		{"an image without types", "--image", cronJob(controllerOnly, running(newapi.Image{Name: "cache:1"}))},
		{"an image of the whole cluster", "--image", cronJob(clusterWide, running(newapi.Image{Name: "cache:1"}), of("batch", "Job"))},
		{"an image with apply configurations", "--ssa", cronJob(applied, running(newapi.Image{Name: "cache:1"}))},
		{"a kind that is none", "--kind", cronJob(of("batch", "cronJob"))},
	} {
		t.Run(test.name, func(t *testing.T) {
			for call, err := range map[string]error{"Check": newapi.Check(fileview.Disk(root), test.options), "Create": second(newapi.Create(fileview.Disk(root), test.options))} {
				if refusal, ok := errors.AsType[*report.Error](err); !ok || refusal.Where != test.where {
					t.Errorf("%s gives %v, want a refusal of %s", call, err, test.where)
				}
			}
		})
	}
	if err := second(newapi.Create(fileview.Disk(root), cronJob(controllerOnly, of("acme", "Certificate"), external(certificates)))); err == nil {
		t.Error("types of a module that go.mod does not require are taken")
	}
	if err := newapi.Check(fileview.Disk(t.TempDir()), cronJob()); err == nil {
		t.Error("a folder without a project is taken")
	}
}

func second(_ *plan.Plan, err error) error { return err }

func TestCheckNames(t *testing.T) {
	for _, test := range []struct {
		where   string
		options newapi.Options
	}{
		{"", cronJob()},
		{"", cronJob(running(newapi.Image{Name: "reg.example.com:5000/cache:1.6-alpine", Port: "65535", User: "1"}))},
		{"--version", cronJob(version("1"))},
		{"--controller-name", cronJob(controller("Nightly Jobs"))},
		{"--image", cronJob(running(newapi.Image{Port: "80"}))},
		{"--image", cronJob(running(newapi.Image{Name: "cache 1"}))},
		{"--image-container-port", cronJob(running(newapi.Image{Name: "cache", Port: "65536"}))},
		{"--run-as-user", cronJob(running(newapi.Image{Name: "cache", User: "0"}))},
		{"--external-api-path", cronJob(external(kind.External{Domain: "certs.io"}))},
	} {
		err := test.options.Check()
		refusal, ok := errors.AsType[*report.Error](err)
		if ok != (test.where != "") || ok && refusal.Where != test.where {
			t.Errorf("%+v: got %v, want a refusal of %q", test.options, err, test.where)
		}
	}
}

// TestRecord: what a project needs of an API is what Create made of it, and what is generated from that.
func TestRecord(t *testing.T) {
	root := projecttest.New(t, newproject.Options{})
	var created []string
	for _, o := range []newapi.Options{cronJob(running(newapi.Image{Name: "cache:1"})), cronJob(controllerOnly, controller("nightly"))} {
		created = append(created, projecttest.Paths(projecttest.Apply(t)(newapi.Create(fileview.Disk(root), o)), report.Created)...)
	}
	p, file, err := projectfile.Open(fileview.Disk(root))
	if err != nil {
		t.Fatal(err)
	}
	needed := func(record func(*plan.Plan) error) []string {
		var needs plan.Needs
		if err := record(p.Record(&needs)); err != nil {
			t.Fatal(err)
		}
		var paths []string
		for _, f := range needs.Files {
			paths = append(paths, f.Path)
			if f.Content != nil && string(f.Content) != projecttest.Read(t, root, f.Path) && f.Path != "config/crd/kustomization.yaml" &&
				f.Path != "config/samples/kustomization.yaml" && f.Path != "internal/controller/suite_test.go" { // those have pieces, too
				t.Errorf("%s would be created with another content", f.Path)
			}
		}
		slices.Sort(paths)
		return slices.Compact(paths)
	}
	all := needed(func(p *plan.Plan) error { return newapi.Record(p, file, file.Resources[0]) })
	slices.Sort(created)
	want := append(created, "api/v1/zz_generated.deepcopy.go", "config/crd/bases/batch.example.com_cronjobs.yaml")
	slices.Sort(want)
	if diff := cmp.Diff(want, all); diff != "" {
		t.Errorf("needed files: %s", diff)
	}
	one := needed(func(p *plan.Plan) error { return newapi.RecordController(p, file, file.Resources[0], "nightly") })
	if diff := cmp.Diff([]string{"internal/controller/nightly_controller.go", "internal/controller/nightly_controller_test.go", "internal/controller/suite_test.go"}, one); diff != "" {
		t.Errorf("needed files of one controller: %s", diff)
	}
}

// TestForgetImage: what others keep in PROJECT stays.
func TestForgetImage(t *testing.T) {
	root := projecttest.New(t, newproject.Options{})
	projecttest.Apply(t)(newapi.Create(fileview.Disk(root), cronJob(running(newapi.Image{Name: "cache:1"}))))
	projecttest.Apply(t)(newapi.Create(fileview.Disk(root), cronJob(of("batch", "Job"), running(newapi.Image{Name: "job:1"}))))
	file, err := projectfile.Load(fileview.Disk(root))
	if err != nil {
		t.Fatal(err)
	}
	recorded := func() (kinds []any) {
		var facts struct{ Resources []map[string]any }
		if _, err := file.Plugin(newapi.ImagePlugin, &facts); err != nil {
			t.Fatal(err)
		}
		for _, r := range facts.Resources {
			kinds = append(kinds, r["kind"])
		}
		return kinds
	}
	for _, step := range []struct {
		kind string
		want []any
	}{{"CronJob", []any{"Job"}}, {"CronJob", []any{"Job"}}, {"Job", nil}, {"Job", nil}} {
		if err := newapi.ForgetImage(file, *file.Lookup("batch", "v1", step.kind)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(step.want, recorded()); diff != "" {
			t.Errorf("without %s: %s", step.kind, diff)
		}
	}
	if found, err := file.Plugin(newapi.ImagePlugin, &struct{}{}); found || err != nil {
		t.Errorf("PROJECT still has an entry without images: %v, %v", found, err)
	}
}
