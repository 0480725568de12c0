package manager_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/manager"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projecttest"
	layout "github.com/slipway-dev/slipway/project"
)

// project is a plan for a project with these files.
func project(t *testing.T, files string) *plan.Plan {
	t.Helper()
	root := t.TempDir()
	projecttest.Unpack(t, root, files)
	p, err := plan.New(root)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestFailure: an error is returned from a function that can return it, and ends the process in one that cannot.
func TestFailure(t *testing.T) {
	const wrapped, bare, ends = "\treturn fmt.Errorf(\"do it: %w\", err)\n", "\treturn err\n", "\tsetupLog.Error(err, \"unable to do it\")\n\tos.Exit(1)\n"
	const point = " {\n\t// +kubebuilder:scaffold:builder\n}\n"
	for _, test := range []struct{ name, src, want string }{
		{"an error, and fmt", "package p\n\nimport \"fmt\"\n\nfunc run() error" + point, wrapped},
		{"an error", "package p\n\nfunc other() {}\n\nfunc run() error" + point, bare},
		{"nothing", "package p\n\nfunc main()" + point, ends},
		{"a logger of another name", "package p\n\nfunc main() {\n\tif err != nil {\n\t\tlog.Error(err, \"unable to start\")\n\t\tos.Exit(1)\n\t}\n\t// +kubebuilder:scaffold:builder\n}\n", strings.Replace(ends, "setupLog", "log", 1)},
		{"something else", "package p\n\nfunc run() int" + point, ends},
		{"more", "package p\n\nfunc run() (int, error)" + point, ends},
		{"outside of functions", "package p\n\n// +kubebuilder:scaffold:builder\n", ends},
		{"no such place", "package p\n", bare},
		{"not Go", "package", ends},
	} {
		if got := manager.Failure(project(t, ""), []byte(test.src), gofile.ImportsOf([]byte(test.src)), "do it"); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
	if got := manager.Failure(project(t, "").Record(&plan.Needs{NamesOnly: true}), nil, nil, "do it"); got != "" {
		t.Errorf("names alone need the code %q", got)
	}
}

func TestMainFile(t *testing.T) {
	const (
		makes       = "package main\n\nfunc main() {\n\tmgr, err := ctrl.NewManager(x)\n}\n"
		sets        = "package main\n\nfunc main() {\n\tmgr, err := ctrl.NewManager(x)\n\terr = (&r{}).SetupWithManager(mgr)\n}\n"
		webhooks    = "package main\n\nfunc main() {\n\tmgr, err := ctrl.NewManager(x)\n\terr = (&k{}).SetupWebhookWithManager(mgr)\n\t//+kubebuilder:scaffold:builder\n}\n"
		controllers = "package main\n\nfunc main() {\n\tmgr, err := ctrl.NewManager(x)\n\terr = (&r{}).SetupWithManager(mgr)\n\t//+kubebuilder:scaffold:builder\n}\n"
	)
	for files, want := range map[string]string{
		"-- main.go --\n-- cmd/main.go --\n": "cmd/main.go",
		"-- main.go --\n":                    "main.go",
		"-- cmd/a/main.go --\n-- cmd/manager/main.go --\n\t//+kubebuilder:scaffold:builder\n":                        "cmd/manager/main.go",
		"-- cmd/a/main.go --\n-- cmd/b/main.go --\n\tctrl.NewManager(x)\n":                                           "cmd/b/main.go",
		"-- cmd/a/main.go --\n" + webhooks + "-- cmd/b/main.go --\n" + controllers + "-- cmd/c/main.go --\n" + makes: "cmd/b/main.go",
		"-- cmd/a/main.go --\n" + makes + "-- cmd/b/main.go --\n" + sets:                                             "cmd/b/main.go",
	} {
		if got, err := manager.MainFile(project(t, files), &layout.Project{}); err != nil || got != want {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
	}
	several := project(t, "-- cmd/a/main.go --\n"+webhooks+"-- cmd/b/main.go --\n"+controllers)
	if got, err := manager.WebhookMainFile(several, &layout.Project{}); err != nil || got != "cmd/a/main.go" {
		t.Errorf("webhooks go to %s, %v", got, err)
	}
	older := &layout.Project{Version: "2"}
	if got, err := manager.MainFile(project(t, "-- main.go --\n-- cmd/main.go --\n"), older); err != nil || got != "main.go" {
		t.Errorf("an older layout has %s, %v", got, err)
	}
	none := project(t, "")
	for files, where := range map[string]string{
		"": "cmd/main.go",
		"-- cmd/manager/main.go --\npackage main\n-- cmd/tool/x.go --\n":                                  "cmd/manager/main.go",
		"-- cmd/a/main.go --\nNewManager(\n-- cmd/b/main.go --\nNewManager(\n":                            "cmd/a/main.go, cmd/b/main.go",
		"-- cmd/a/main.go --\n" + makes + "-- cmd/b/main.go --\n" + sets + "-- cmd/c/main.go --\n" + sets: "cmd/b/main.go, cmd/c/main.go",
	} {
		_, err := manager.MainFile(project(t, files), &layout.Project{})
		if refusal, ok := errors.AsType[*report.Error](err); !ok || refusal.Where != where || !errors.Is(err, manager.ErrNoManager) {
			t.Errorf("%q: %v", files, err)
		}
	}
	if got, err := manager.MainFile(none.Record(&plan.Needs{}), &layout.Project{}); err != nil || got != "cmd/main.go" {
		t.Errorf("a plan that records gets %s, %v", got, err)
	}
}

// TestMainFileBeyond: where main only calls what other packages of the project do, their code is found.
func TestMainFileBeyond(t *testing.T) {
	const (
		root  = "package main\n\nimport (\n\t\"x.org/op/internal/cmd/run\"\n\t\"y.org/z/run\"\n)\n\nfunc main() {\n\trun.New().Execute()\n}\n"
		run   = "-- internal/cmd/run/run.go --\npackage run\n\nimport \"x.org/op/internal/start\"\n"
		point = "package start\n\nfunc Run() error {\n\t// +kubebuilder:scaffold:builder\n\treturn mgr.Start()\n}\n"
		makes = "package start\n\nfunc Run() error {\n\tmgr := ctrl.NewManager()\n\treturn r.SetupWithManager(mgr)\n}\n"
	)
	for _, test := range []struct{ name, files, want, where string }{
		{"through another package", "-- cmd/manager/main.go --\n" + root + run + "-- internal/start/a.go --\n" + point, "internal/start/a.go", ""},
		{"from the usual main", "-- cmd/main.go --\n" + root + run + "-- internal/start/a.go --\n" + point, "internal/start/a.go", ""},
		{"the comment decides", "-- cmd/main.go --\n" + root + run + "-- internal/start/a.go --\n" + point + "-- internal/start/b.go --\n" + makes, "internal/start/a.go", ""},
		{"without the comment", "-- cmd/manager/main.go --\n" + root + run + "-- internal/start/a.go --\n" + makes, "internal/start/a.go", ""},
		{"main has a place", "-- cmd/main.go --\n" + root + "\nfunc f() {\n\tctrl.NewManager()\n}\n" + run + "-- internal/start/a.go --\n" + point, "cmd/main.go", ""},
		{"no package that main imports", "-- cmd/main.go --\n" + root + "-- internal/start/a.go --\n" + point, "cmd/main.go", ""},
		{"several", "-- cmd/manager/main.go --\n" + root + run + "-- internal/start/a.go --\n" + makes + "-- internal/start/b.go --\n" + makes, "", "internal/start/a.go, internal/start/b.go"},
		{"a test does not count", "-- cmd/manager/main.go --\n" + root + run + "-- internal/start/a_test.go --\n" + point, "", "cmd/manager/main.go"},
	} {
		got, err := manager.MainFile(project(t, test.files), &layout.Project{Repo: "x.org/op"})
		refusal, _ := errors.AsType[*report.Error](err)
		if got != test.want || (err == nil) == (test.want == "") || refusal != nil && refusal.Where != test.where {
			t.Errorf("%s: got %q, %v, want %q, %q", test.name, got, err, test.want, test.where)
		}
		recorded, err := manager.MainFile(project(t, test.files).Record(&plan.Needs{}), &layout.Project{Repo: "x.org/op"})
		if test.want != "" && (err != nil || recorded != test.want) { // else deleting leaves what creating wrote
			t.Errorf("%s: a plan that records gets %q, %v", test.name, recorded, err)
		}
	}
}

func TestRolesByMarkers(t *testing.T) {
	for files, want := range map[string]bool{
		"": false, "-- config/rbac/role_binding.yaml --\nkind: RoleBinding\n": true, "-- config/rbac/role_binding.yaml --\nkind: ClusterRoleBinding\nroleRef:\n  kind: RoleBinding\n": false,
		"-- config/rbac/role_binding.yaml --\nkind: ClusterRoleBinding\n---\nkind: RoleBinding\n": false,
	} {
		if got, err := manager.RolesByMarkers(project(t, files)); err != nil || got != want {
			t.Errorf("%q: got %v, %v, want %v", files, got, err, want)
		}
	}
}
