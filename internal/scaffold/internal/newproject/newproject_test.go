package newproject_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/newproject"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projecttest"
)

func options() newproject.Options {
	return newproject.Options{Domain: "example.com", Repo: "example.com/op", Name: "op"}
}

func TestCreate(t *testing.T) {
	root := projecttest.New(t, newproject.Options{CLIVersion: "1.2.3"})
	projecttest.Holds(t, root, "PROJECT", "domain: example.com\n", "projectName: op\n", "repo: example.com/op\n", "cliVersion: 1.2.3\n", "    scaffold: 1\n", "!multigroup")
	projecttest.Holds(t, root, "go.mod", "module example.com/op\n", "\tsigs.k8s.io/controller-runtime v")
	all := projecttest.New(t, newproject.Options{MultiGroup: true, Namespaced: true})
	projecttest.Holds(t, all, "PROJECT", "multigroup: true\n", "namespaced: true\n")
	projecttest.Holds(t, all, "config/default/kustomization.yaml", "- ../namespaced\n")
}

// TestLeader: replicas of a project agree on one Lease, and other projects of the domain on another.
func TestLeader(t *testing.T) {
	id := func(o newproject.Options) string {
		flags := projecttest.Read(t, projecttest.New(t, o), "internal/manager/flags.go")
		_, after, _ := strings.Cut(flags, "const leaderElectionID = ")
		id, _, _ := strings.Cut(after, "\n")
		return id
	}
	one, same, other := id(newproject.Options{}), id(newproject.Options{Name: "x"}), id(newproject.Options{Repo: "example.com/other"})
	if one != same || one == other || !strings.Contains(one, "example.com") {
		t.Errorf("the Leases are %s, %s and %s", one, same, other)
	}
}

// TestDefaults: names follow from the folder and its module.
func TestDefaults(t *testing.T) {
	for _, test := range []struct{ folder, goMod, repo, project, module string }{
		{"My Operator", "", "example.com/x", "projectName: my-operator\n", "module example.com/x\n"},
		{"123", "", "example.com/x", "projectName: x\n", "module example.com/x\n"},
		{"op", "module example.com/mine\n\ngo 1.20\n\nrequire example.org/x v1.0.0 // why\n", "", "repo: example.com/mine\n", "\texample.org/x v1.0.0 // why\n"},
	} {
		root := filepath.Join(t.TempDir(), test.folder)
		if err := os.Mkdir(root, 0o755); err != nil {
			t.Fatal(err)
		}
		if test.goMod != "" {
			projecttest.Unpack(t, root, "-- go.mod --\n"+test.goMod)
		}
		projecttest.Apply(t)(newproject.Create(fileview.Disk(root), newproject.Options{Domain: "example.com", Repo: test.repo}))
		projecttest.Holds(t, root, "PROJECT", test.project)
		projecttest.Holds(t, root, "go.mod", test.module, "!go 1.20\n")
	}
}

// TestAgain: the same call completes what is missing, and keeps what was changed.
func TestAgain(t *testing.T) {
	root := projecttest.New(t, newproject.Options{})
	if err := os.Remove(filepath.Join(root, "Dockerfile")); err != nil {
		t.Fatal(err)
	}
	projecttest.Unpack(t, root, "-- Makefile --\nall:\n")
	changes := projecttest.Apply(t)(newproject.Create(fileview.Disk(root), newproject.Options{Domain: "example.com"}))
	if created := projecttest.Paths(changes, report.Created); !slices.Equal(created, []string{"Dockerfile"}) {
		t.Errorf("created are %v", created)
	}
	if kept := projecttest.Paths(changes, report.Kept); !slices.Contains(kept, "Makefile") {
		t.Errorf("kept are %v", kept)
	}
}

func TestRefusals(t *testing.T) {
	project := projecttest.New(t, newproject.Options{})
	folder := func(files string) string {
		root := t.TempDir()
		projecttest.Unpack(t, root, files)
		return root
	}
	const ours, others = "PROJECT", "-- PROJECT --\nrepo: x.org/y\nlayout: [go.kubebuilder.io/v4]\nversion: \"3\"\n"
	change := func(change func(*newproject.Options)) newproject.Options {
		o := options()
		change(&o)
		return o
	}
	for _, test := range []struct {
		name, root, where string
		options           newproject.Options
	}{
		{"no module", folder(""), "", change(func(o *newproject.Options) { o.Repo = "" })},
		{"another module", folder("-- go.mod --\nmodule example.com/mine\n"), "go.mod", options()},
		{"a module file that is none", folder("-- go.mod --\nmodule\n"), "go.mod:1:1", options()},
		{"a domain that is none", folder(""), "--domain", change(func(o *newproject.Options) { o.Domain = "Example" })},
		{"a long name", folder(""), "--project-name", change(func(o *newproject.Options) { o.Name = strings.Repeat("x", 40) })},
		{"a name with a digit first", folder(""), "--project-name", change(func(o *newproject.Options) { o.Name = "3d" })},
		{"a module path that is none", folder(""), "--repo", change(func(o *newproject.Options) { o.Repo = "a b" })},
		{"a license that is none", folder(""), "--license", change(func(o *newproject.Options) { o.License.Name = "gpl" })},
		{"code that is there", folder("-- cmd/main.go --\n"), ".", options()},
		{"a project of another tool", folder(others), ".", options()},
		{"another domain", project, ours, change(func(o *newproject.Options) { o.Domain = "example.org" })},
		{"another name", project, ours, change(func(o *newproject.Options) { o.Name = "other" })},
		{"another repo", project, ours, change(func(o *newproject.Options) { o.Repo = "example.com/other" })},
		{"another scope", project, ours, change(func(o *newproject.Options) { o.Namespaced = true })},
		{"another layout", project, ours, change(func(o *newproject.Options) { o.MultiGroup = true })},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := projecttest.Tree(t, test.root)
			_, err := newproject.Create(fileview.Disk(test.root), test.options)
			refusal, ok := errors.AsType[*report.Error](err)
			if !ok {
				t.Fatalf("got %v", err)
			}
			where, err := filepath.Rel(test.root, refusal.Where)
			if err != nil {
				where = refusal.Where
			}
			if where != test.where {
				t.Errorf("got %v, want a refusal of %q", refusal, test.where)
			}
			if len(projecttest.Tree(t, test.root)) != len(before) {
				t.Error("something was written")
			}
		})
	}
}

// TestNamesItsRelease: a project of a release says how to install that release, and a later one changes nothing; other
// programs name the branch.
func TestNamesItsRelease(t *testing.T) {
	const install, clone = "go install github.com/slipway-dev/slipway/cmd/slipway@v0.1.0'", "git clone https://github.com/slipway-dev/slipway ../slipway"
	root := projecttest.New(t, newproject.Options{CLIVersion: "v0.1.0"})
	projecttest.Holds(t, root, "Makefile", install, "!git clone")
	later := options()
	later.CLIVersion, later.License.Year = "v0.2.0", 2026
	if p, err := newproject.Create(fileview.Disk(root), later); err != nil || !p.Empty() || slices.ContainsFunc(p.Changes(), func(f report.File) bool { return f.Path == "Makefile" && f.Why == "it existed already" }) {
		t.Errorf("a later release changes it: %v, %v", p.Changes(), err)
	}
	for _, version := range []string{"devel", "", "v0.2.0-0.20260101000000-abcdefabcdef"} {
		projecttest.Holds(t, projecttest.New(t, newproject.Options{CLIVersion: version}), "Makefile", clone, "!slipway@v")
	}
}
