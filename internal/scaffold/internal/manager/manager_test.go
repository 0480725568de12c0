package manager_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/gofile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/manager"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/piece"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projecttest"
	layout "github.com/slipway-dev/slipway/project"
)

// project is a plan for a project with these files.
func project(t *testing.T, files string) *plan.Plan {
	t.Helper()
	root := t.TempDir()
	projecttest.Unpack(t, root, files)
	p, err := plan.New(fileview.Disk(root))
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

// TestFind: the file that sets up controllers is found in the main package of the manager, whatever its name.
func TestFind(t *testing.T) {
	const (
		head        = "package main\n\nfunc main() {\n\tmgr, err := ctrl.NewManager(x)\n"
		makes       = head + "}\n"
		sets        = head + "\terr = (&r{}).SetupWithManager(mgr)\n}\n"
		webhooks    = head + "\terr = (&k{}).SetupWebhookWithManager(mgr)\n\t//+kubebuilder:scaffold:builder\n}\n"
		controllers = head + "\terr = (&r{}).SetupWithManager(mgr)\n\t//+kubebuilder:scaffold:builder\n}\n"
		stub        = "package main\n\nfunc main() { app.Run() }\n"
		builds      = "-- Dockerfile --\nFROM golang AS b\nWORKDIR /s\nCOPY . .\nRUN go build -o /m ./cmd/b\nFROM scratch\nCOPY --from=b /m /m\nENTRYPOINT [\"/m\"]\n"
		several     = "several files have a manager to add code to, and --manager names none of their folders"
		missing     = "no file of the main package has the comment +kubebuilder:scaffold:builder, or calls NewManager"
	)
	for _, test := range []struct{ name, files, want, place, why string }{
		{"the usual place", "-- cmd/main.go --\n" + stub, "cmd/main.go", "", ""},
		{"an older one", "-- main.go --\n" + makes, "main.go", "", ""},
		{"another name", "-- cmd/manager.go --\n" + makes, "cmd/manager.go", "", ""},
		{"beside main", "-- cmd/main.go --\n" + stub + "-- cmd/run.go --\n" + controllers, "cmd/run.go", "", ""},
		{"the comment decides", "-- cmd/a/main.go --\n" + sets + "-- cmd/b/main.go --\n" + webhooks, "cmd/b/main.go", "", ""},
		{"controllers decide", "-- cmd/a/main.go --\n" + webhooks + "-- cmd/b/main.go --\n" + controllers + "-- cmd/c/main.go --\n" + makes, "cmd/b/main.go", "", ""},
		{"the Dockerfile decides", builds + "-- cmd/main.go --\n" + makes + "-- cmd/b/main.go --\n" + makes, "cmd/b/main.go", "", ""},
		{"several", "-- cmd/a/main.go --\n" + sets + "-- cmd/b/main.go --\n" + sets, "", "cmd/a/main.go, cmd/b/main.go", several},
		{"none of several", "-- cmd/a/main.go --\n" + stub + "-- cmd/b/main.go --\n" + stub, "", "cmd/a/main.go, cmd/b/main.go", missing},
		{"no program", "", "", "cmd/main.go", "there is no cmd/main.go to add code to"},
	} {
		got, err := manager.Find(project(t, test.files), &layout.Project{})
		if err != nil || got.File != test.want || got.Place() != cmp.Or(test.want, test.place) || got.Unclear != nil && got.Unclear.What != test.why {
			t.Errorf("%s: got %+v, %v", test.name, got, err)
		}
	}
	files := "-- cmd/a/main.go --\n" + webhooks + "-- cmd/b/main.go --\n" + controllers
	if got, err := manager.FindForWebhooks(project(t, files), &layout.Project{}); err != nil || got.File != "cmd/a/main.go" {
		t.Errorf("webhooks go to %+v, %v", got, err)
	}
	if got, err := manager.Find(project(t, "").Record(&plan.Needs{}), &layout.Project{}); err != nil || got.File != "cmd/main.go" {
		t.Errorf("a plan that records gets %+v, %v", got, err)
	}
}

// TestWire: code goes where the package has a place for it, and is printed with the place that lacks it.
func TestWire(t *testing.T) {
	const main = "package main\n\nvar setupLog = log()\n\nfunc main() {\n\t// +kubebuilder:scaffold:builder\n}\n"
	code := manager.Code{
		Scheme: plan.These(piece.Fragment{Marker: "scheme", Code: "must(v1.AddToScheme(scheme))\n", Key: "v1.AddToScheme("}),
		SetUp:  plan.These(piece.Fragment{Marker: "builder", Code: "setUp(setupLog.Error)\n", Key: "setUp("}),
	}
	for _, test := range []struct {
		name, files string
		skip        bool
		changed     string // the files
		left        []string
	}{
		{"both", "-- cmd/main.go --\n" + main + "\nfunc init() {\n\t// +kubebuilder:scaffold:scheme\n}\n", false, "cmd/main.go", nil},
		{"the scheme is in another file", "-- cmd/main.go --\n" + main + "-- cmd/scheme.go --\npackage main\n\nfunc init() {\n\t// +kubebuilder:scaffold:scheme\n}\n", false, "cmd/main.go cmd/scheme.go", nil},
		{"the scheme is elsewhere", "-- cmd/main.go --\n" + main, false, "cmd/main.go", []string{"cmd/main.go:7: there is no insertion point +kubebuilder:scaffold:scheme; add by hand:\nmust(v1.AddToScheme(scheme))"}},
		{"no logger", "-- cmd/main.go --\n" + strings.Replace(main, "setupLog", "logger", 1), false, "", []string{"scaffold:scheme", "cmd/main.go:7: this file declares no setupLog, which the code logs with; add by hand:\nsetUp("}},
		{"a logger of the function", "-- cmd/main.go --\npackage main\n\nfunc init() {\n\t// +kubebuilder:scaffold:scheme\n}\n\nfunc main() {\n\tsetupLog := log()\n\t// +kubebuilder:scaffold:builder\n}\n", false, "cmd/main.go", nil},
		{"a logger of another function", "-- cmd/main.go --\n" + strings.Replace(main, "var setupLog = log()", "func init() {\n\tsetupLog := log()\n\t// +kubebuilder:scaffold:scheme\n}", 1), false, "cmd/main.go", []string{"this file declares no setupLog"}},
		{"left to the user", "-- cmd/main.go --\n" + main, true, "", []string{"--skip-wiring leaves the manager's code to you; add these lines to cmd/main.go:\nmust(v1.AddToScheme(scheme))\nsetUp(setupLog.Error)"}},
		{"no program", "", false, "", []string{"cmd/main.go: there is no cmd/main.go to add code to; add these lines where your code sets up the manager:\nmust(v1"}},
	} {
		p := project(t, test.files)
		code.Skip = test.skip
		if err := code.Wire(p, &layout.Project{}, manager.Find); err != nil {
			t.Fatal(err)
		}
		var changed []string
		for _, file := range p.Changes() {
			changed = append(changed, file.Path)
		}
		slices.Sort(changed)
		if got := strings.Join(changed, " "); got != test.changed {
			t.Errorf("%s: changed are %q", test.name, got)
		}
		left := p.Left()
		if !slices.EqualFunc(left, test.left, strings.Contains) {
			t.Errorf("%s: left are %q", test.name, left)
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
