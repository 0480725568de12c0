package feature_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/features"
	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/feature"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/newapi"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/newproject"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/newwebhook"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projectfile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projecttest"
)

const list = "config/default/kustomization.yaml"

// newProject has a CronJob with a controller.
func newProject(t *testing.T) string {
	t.Helper()
	root := projecttest.New(t, newproject.Options{})
	projecttest.Apply(t)(newapi.Create(fileview.Disk(root), newapi.Options{Group: "batch", Version: "v1", Kind: "CronJob", Resource: true, Controller: true, Namespaced: true}))
	return root
}

// byAnotherTool takes away what only projects of slipway have.
func byAnotherTool(t *testing.T, root string) {
	t.Helper()
	if err := os.Remove(filepath.Join(root, "internal/manager/flags.go")); err != nil {
		t.Fatal(err)
	}
}

// lines are the features that the project's configuration lists, in order.
func lines(t *testing.T, root string) (names []string) {
	t.Helper()
	_, components, _ := strings.Cut(projecttest.Read(t, root, list), "components:\n")
	for line := range strings.Lines(components) {
		if name, ok := strings.CutPrefix(line, "- ../"); ok {
			names = append(names, strings.TrimSpace(name))
		}
	}
	return names
}

// TestSwitch: each feature can be switched on and off, and a second time changes nothing. Its configuration stays, its
// code goes.
func TestSwitch(t *testing.T) {
	code := map[features.Name]string{
		features.SelfCert: "internal/manager/certificate.go", features.Tracing: "internal/manager/tracing.go", features.Alerts: "docs/runbooks/ManagerAbsent.md",
		features.Migration: "internal/manager/migration.go", features.EndToEnd: "test/e2e/main_test.go", features.Workflow: ".github/workflows/ci.yml",
	}
	for _, f := range features.Names() {
		t.Run(string(f), func(t *testing.T) {
			root := newProject(t)
			exists := func(name string) bool {
				_, err := os.Stat(filepath.Join(root, name))
				return err == nil
			}
			for _, step := range []struct {
				edit func(*testing.T) (*plan.Plan, error)
				on   bool
			}{
				{func(t *testing.T) (*plan.Plan, error) {
					return projectfile.Edit(fileview.Disk(root), feature.Enable(f))
				}, true},
				{func(t *testing.T) (*plan.Plan, error) {
					return projectfile.Edit(fileview.Disk(root), feature.Disable(f))
				}, false},
			} {
				projecttest.Apply(t)(step.edit(t))
				if got := slices.Contains(lines(t, root), string(f)); got != (step.on && features.Of(f).Deployed()) {
					t.Errorf("listed is %v, want %v", got, step.on)
				}
				if file := code[f]; file != "" && exists(file) != step.on {
					t.Errorf("%s is there: %v, want %v", file, exists(file), step.on)
				}
				if features.Of(f).Deployed() && !exists("config/"+string(f)+"/kustomization.yaml") {
					t.Error("its configuration does not exist")
				}
				if again, err := step.edit(t); err != nil || !again.Empty() {
					t.Errorf("a second time is not without changes: %v", err)
				}
			}
		})
	}
}

// TestOrder: the lines of features have their order, whatever the order in which they came.
func TestOrder(t *testing.T) {
	root := newProject(t)
	for _, f := range []features.Name{features.Tracing, features.Alerts, features.HA} {
		projecttest.Apply(t)(projectfile.Edit(fileview.Disk(root), feature.Enable(f)))
	}
	if diff := cmp.Diff([]string{"metrics", "alerts", "ha", "tracing"}, lines(t, root)); diff != "" {
		t.Error(diff)
	}
}

// TestCompany: some features bring others along, or take their place.
func TestCompany(t *testing.T) {
	root := newProject(t)
	for _, step := range []struct {
		edits []func(*testing.T) (*plan.Plan, error)
		want  []string
	}{
		{[]func(*testing.T) (*plan.Plan, error){enable(root, features.Prometheus)}, []string{"metrics", "prometheus", "selfcert", "metrics-tls"}},
		{[]func(*testing.T) (*plan.Plan, error){enable(root, features.CertManager)}, []string{"metrics", "prometheus", "certmanager", "metrics-tls"}},
		{[]func(*testing.T) (*plan.Plan, error){enable(root, features.SelfCert)}, []string{"metrics", "prometheus", "selfcert", "metrics-tls"}},
	} {
		for _, edit := range step.edits {
			projecttest.Apply(t)(edit(t))
		}
		if diff := cmp.Diff(step.want, lines(t, root)); diff != "" {
			t.Error(diff)
		}
	}
	for _, needed := range []features.Name{features.Metrics, features.SelfCert, features.MetricsTLS} {
		if err := second(projectfile.Edit(fileview.Disk(root), feature.Disable(needed))); err == nil {
			t.Errorf("%s is switched off, which prometheus needs", needed)
		}
	}
	changes := projecttest.Apply(t)(projectfile.Edit(fileview.Disk(root), feature.Disable(features.Prometheus)))
	if kept := projecttest.Paths(changes, report.Kept); !slices.Equal(kept, []string{"config/metrics-tls/kustomization.yaml", "config/prometheus/kustomization.yaml"}) {
		t.Errorf("kept are %v", kept)
	}
}

// TestNeeds: each feature is enabled with those that its row says it needs.
func TestNeeds(t *testing.T) {
	for _, row := range features.Table() {
		needs := slices.Concat(row.Needs, row.ComponentNeeds)
		if len(needs) == 0 {
			continue
		}
		root := newProject(t)
		projecttest.Apply(t)(projectfile.Edit(fileview.Disk(root), feature.Disable(features.Metrics)))
		projecttest.Apply(t)(enable(root, row.Name)(t))
		on, issuers := lines(t, root), 0
		for _, needed := range needs {
			is := slices.Contains(on, string(needed))
			if features.Of(needed).IssuesCertificates() {
				if is {
					issuers++
				}
			} else if !is {
				t.Errorf("%s is on without %s: %q", row.Name, needed, on)
			}
		}
		if slices.Contains(needs, features.SelfCert) && issuers != 1 {
			t.Errorf("%s is on with %d issuers of certificates: %q", row.Name, issuers, on)
		}
	}
}

func enable(root string, f features.Name) func(*testing.T) (*plan.Plan, error) {
	return func(*testing.T) (*plan.Plan, error) { return projectfile.Edit(fileview.Disk(root), feature.Enable(f)) }
}

func second(_ *plan.Plan, err error) error { return err }

// TestTracing traces controllers that are completed as usual, and leaves others alone.
func TestTracing(t *testing.T) {
	root := newProject(t)
	const traced, other = "internal/controller/cronjob_controller.go", "internal/controller/mine_controller.go"
	projecttest.Apply(t)(newapi.Create(fileview.Disk(root), newapi.Options{Group: "batch", Version: "v1", Kind: "CronJob", Controller: true, ControllerName: "mine"}))
	mine := strings.Replace(projecttest.Read(t, root, other), "Complete(r)", "Complete(wrapped(r))", 1)
	projecttest.Unpack(t, root, "-- "+other+" --\n"+mine)
	projecttest.Apply(t)(projectfile.Edit(fileview.Disk(root), feature.Enable(features.Tracing)))
	projecttest.Holds(t, root, traced, "Complete(manager.Traced(r))", `"example.com/op/internal/manager"`)
	projecttest.Holds(t, root, other, "Complete(wrapped(r))", "!internal/manager")
	projecttest.Holds(t, root, "cmd/main.go", "manager.Trace(mgr)")
	projecttest.Holds(t, root, "go.mod", "\tgo.opentelemetry.io/otel/sdk v", "!go.opentelemetry.io/otel/sdk v1.43.0 // indirect")
}

func TestRefusals(t *testing.T) {
	const main, flags = "cmd/main.go", "internal/manager/flags.go"
	for _, test := range []struct {
		name, where string
		change      string // files of the project that are other ones; no flags.go means another tool's project
		feature     features.Name
	}{
		{"its own certificate", main, "", features.SelfCert},
		{"tracing", main, "", features.Tracing},
		{"a certificate of the metrics", list, "", features.MetricsTLS},
		{"profiles", main, "", features.PProf},
		{"other end-to-end tests", "test/e2e/mine_test.go", "-- " + flags + " --\npackage manager\n-- test/e2e/mine_test.go --\npackage e2e\n", features.EndToEnd},
		{"another target for them", "Makefile:2", "-- " + flags + " --\npackage manager\n-- Makefile --\n.PHONY: test-e2e\ntest-e2e:\n\tkind create cluster\n", features.EndToEnd},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := newProject(t)
			byAnotherTool(t, root)
			projecttest.Unpack(t, root, test.change)
			err := second(projectfile.Edit(fileview.Disk(root), feature.Enable(test.feature)))
			if refusal, ok := errors.AsType[*report.Error](err); !ok || refusal.Where != test.where {
				t.Errorf("got %v, want a refusal of %s", err, test.where)
			}
		})
	}
}

// TestOfOtherTools: what another tool lists among the resources, in a comment while it is off, is switched by the
// comment.
func TestOfOtherTools(t *testing.T) {
	root := newProject(t)
	projecttest.Unpack(t, root, `
-- config/default/kustomization.yaml --
resources:
- ../manager
#- ../prometheus
-- config/prometheus/kustomization.yaml --
resources:
- monitor.yaml
`)
	projecttest.Apply(t)(projectfile.Edit(fileview.Disk(root), feature.Enable(features.Prometheus)))
	projecttest.Holds(t, root, list, "\n- ../prometheus\n", "!components:")
	projecttest.Apply(t)(projectfile.Edit(fileview.Disk(root), feature.Disable(features.Prometheus)))
	projecttest.Holds(t, root, list, "!\n- ../prometheus\n")
}

func TestInNamespace(t *testing.T) {
	root := newProject(t)
	projecttest.Apply(t)(projectfile.Edit(fileview.Disk(root), feature.InNamespace(true)))
	projecttest.Holds(t, root, "PROJECT", "namespaced: true\n")
	if !slices.Contains(lines(t, root), "namespaced") {
		t.Error("the feature is off")
	}
	projecttest.Apply(t)(projectfile.Edit(fileview.Disk(root), feature.InNamespace(false)))
	if slices.Contains(lines(t, root), "namespaced") {
		t.Error("the feature is on")
	}
}

// TestInNamespaceOfOtherTools: a manager that does not know the variable learns it, or its author is told what to
// write.
func TestInNamespaceOfOtherTools(t *testing.T) {
	const manager = "-- cmd/main.go --\npackage main\n\nimport (\n\tctrl \"sigs.k8s.io/controller-runtime\"\n)\n\nfunc main() {\n\t_, _ = ctrl.NewManager(nil, ctrl.Options{\n\t\tScheme: scheme,\n\t})\n}\n"
	for _, test := range []struct{ name, files, where string }{
		{"options", manager, ""},
		{"options with a cache", strings.Replace(manager, "Scheme: scheme", "Cache: mine", 1), "cmd/main.go:9"},
		{"no options", "-- cmd/main.go --\npackage main\n", "cmd/main.go:1"},
		{"permissions of one namespace", "-- config/rbac/role_binding.yaml --\nkind: RoleBinding\n", "config/rbac/role_binding.yaml"},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := newProject(t)
			byAnotherTool(t, root)
			projecttest.Unpack(t, root, test.files)
			on := !strings.Contains(test.files, "RoleBinding")
			p, err := projectfile.Edit(fileview.Disk(root), feature.InNamespace(on))
			if test.where != "" {
				if refusal, ok := errors.AsType[*report.Error](err); !ok || refusal.Where != test.where {
					t.Errorf("got %v, want a refusal of %s", err, test.where)
				}
				return
			}
			projecttest.Apply(t)(p, err)
			projecttest.Holds(t, root, "cmd/main.go", "\t\tCache:  cache.Options{DefaultNamespaces: watchedNamespaces()},\n", `"sigs.k8s.io/controller-runtime/pkg/cache"`)
			projecttest.Holds(t, root, "cmd/namespaces.go", "package main\n", "func watchedNamespaces()")
		})
	}
}

// TestConversion: a converted kind needs its lines in what serves it, and in what keeps the certificate.
func TestConversion(t *testing.T) {
	root := newProject(t)
	projecttest.Apply(t)(newapi.Create(fileview.Disk(root), newapi.Options{Group: "batch", Version: "v2", Kind: "CronJob", Resource: true}))
	projecttest.Apply(t)(newwebhook.Create(fileview.Disk(root), newwebhook.Options{Group: "batch", Version: "v1", Kind: "CronJob", Conversion: true}))
	const patch = "conversion_batch.example.com_cronjobs.yaml"
	projecttest.Holds(t, root, "config/webhook/kustomization.yaml", patch, "!manifests.yaml")
	projecttest.Holds(t, root, "config/selfcert/kustomization.yaml", patch)
	projecttest.Apply(t)(projectfile.Edit(fileview.Disk(root), feature.Enable(features.CertManager)))
	projecttest.Holds(t, root, "config/certmanager/kustomization.yaml", "name: cronjobs.batch.example.com}")
}

// TestConversionOfOtherTools: another tool's patch of a converted kind stays when its webhook goes, which is said.
func TestConversionOfOtherTools(t *testing.T) {
	root := newProject(t)
	projecttest.Apply(t)(newapi.Create(fileview.Disk(root), newapi.Options{Group: "batch", Version: "v2", Kind: "CronJob", Resource: true}))
	projecttest.Apply(t)(newwebhook.Create(fileview.Disk(root), newwebhook.Options{Group: "batch", Version: "v1", Kind: "CronJob", Conversion: true}))
	if err := os.Remove(filepath.Join(root, "cmd", "main.go")); err != nil { // whose webhooks need the feature
		t.Fatal(err)
	}
	for patches, said := range map[string]bool{
		"patches:\n- path: patches/webhook_in_cronjobs.yaml\n":         true,
		"patchesStrategicMerge:\n- patches/webhook_in_cronjobs.yaml\n": true,
		"patches:\n#- path: patches/webhook_in_cronjobs.yaml\n":        false,
	} {
		projecttest.Unpack(t, root, "-- config/crd/kustomization.yaml --\nresources: []\n"+patches)
		plan, err := projectfile.Edit(fileview.Disk(root), feature.Disable(features.WebhookServer))
		if err != nil {
			t.Fatal(err)
		}
		if left := strings.Join(plan.Left(), "\n"); strings.Contains(left, "config/crd/kustomization.yaml: patches/webhook_in_cronjobs.yaml still has cronjobs.batch.example.com converted") != said {
			t.Errorf("with %q it is left: %q", patches, left)
		}
	}
}

// TestRecord: what a project needs of its features is what Enable made.
func TestRecord(t *testing.T) {
	root := newProject(t)
	created := projecttest.Paths(projecttest.Apply(t)(projectfile.Edit(fileview.Disk(root), feature.Enable(features.Prometheus, features.Tracing, features.Alerts, features.Migration, features.EndToEnd))), report.Created)
	projecttest.Unpack(t, root, "-- internal/hook.go --\npackage internal\n\n// +kubebuilder:webhook:path=/mine\n-- config/webhook/kustomization.yaml --\nkind: Component\n")
	p, file, err := projectfile.Open(fileview.Disk(root))
	if err != nil {
		t.Fatal(err)
	}
	var needs plan.Needs
	if err := feature.Record(p.Record(&needs), file); err != nil {
		t.Fatal(err)
	}
	for _, name := range append(created, "config/webhook/manifests.yaml") {
		if !needs.HasFile(name) {
			t.Errorf("%s is not needed", name)
		}
	}
	if needs.HasFile("config/ha/kustomization.yaml") {
		t.Error("a feature that was never on is needed")
	}
}

func TestParse(t *testing.T) {
	for name, want := range map[string]features.Name{"metrics": features.Metrics, "cert-manager": features.CertManager, "certmanager": features.CertManager} {
		if got, ok := features.Parse(name); got != want || !ok {
			t.Errorf("%s is the feature %s, %v", name, got, ok)
		}
	}
	if _, ok := features.Parse("Metrics"); ok {
		t.Error("a name in capitals is one")
	}
}
