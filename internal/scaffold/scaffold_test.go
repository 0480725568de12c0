package scaffold

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/base"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// newProject scaffolds a project in a folder of the test's own.
func newProject(t *testing.T, o Project) string {
	t.Helper()
	root := t.TempDir()
	o.Name, o.License.Year = "op", 2026
	if o.Domain == "" {
		o.Domain, o.Repo = "example.com", "example.com/op"
	}
	apply(t)(Init(fileview.Disk(root), o))
	return root
}

// apply applies a plan that was made without an error.
func apply(t *testing.T) func(*Plan, error) {
	return func(p *Plan, err error) {
		t.Helper()
		if err == nil {
			err = p.Apply(report.Discard)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func cronJob() API {
	return API{Group: "batch", Version: "v1", Kind: "CronJob", Resource: true, Controller: true, Namespaced: true}
}

// tree reads all files below root, as an archive in the order of their paths.
func tree(t *testing.T, root string) *txtar.Archive {
	t.Helper()
	archive := &txtar.Archive{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		rel, relErr := filepath.Rel(root, path)
		archive.Files = append(archive.Files, txtar.File{Name: filepath.ToSlash(rel), Data: data})
		return errors.Join(err, relErr)
	})
	if err != nil {
		t.Fatal(err)
	}
	return archive
}

// treeDiff compares texts: byte by byte, cmp takes a hundred times as long.
func treeDiff(before, after *txtar.Archive) string {
	return cmp.Diff(before, after, cmp.Transformer("text", func(data []byte) string { return string(data) }))
}

// TestGolden compares whole scaffolds with testdata/golden. Left out are the
// module files, which pins_test.go looks after, and the base.
func TestGolden(t *testing.T) {
	frigate := API{Group: "ship", Version: "v1beta1", Kind: "Frigate", Resource: true, Controller: true}
	v2 := cronJob()
	v2.Version, v2.Controller = "v2", false
	tests := []struct {
		name    string
		project Project
		apis    []API
	}{
		{"init", Project{}, nil},
		{"single", Project{Domain: "tutorial.kubebuilder.io", Repo: "tutorial.kubebuilder.io/project"}, []API{cronJob(), v2}},
		{"multigroup", Project{MultiGroup: true, License: License{Name: "none"}}, []API{cronJob(), frigate}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			root := newProject(t, test.project)
			for _, api := range test.apis {
				apply(t)(CreateAPI(fileview.Disk(root), api))
			}
			archive := tree(t, root)
			archive.Files = slices.DeleteFunc(archive.Files, func(f txtar.File) bool {
				return slices.Contains([]string{base.Path, "go.mod", "go.sum"}, f.Name)
			})
			compareGolden(t, filepath.Join("testdata", "golden", test.name+".txtar"), txtar.Format(archive))
		})
	}
}

func compareGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got; -update accepts it):\n%s", name, diff)
	}
}

// TestSize holds new projects to their promise: at most 25 files and 750 lines for people to read. go.sum,
// AGENTS.md and what Slipway keeps for itself are not for people.
func TestSize(t *testing.T) {
	files, lines := 0, 0
	for _, f := range tree(t, newProject(t, Project{CLIVersion: "devel"})).Files {
		if !slices.Contains([]string{"go.sum", "AGENTS.md"}, f.Name) && path.Dir(f.Name) != path.Dir(base.Path) {
			files, lines = files+1, lines+strings.Count(string(f.Data), "\n")
		}
	}
	if t.Logf("init writes %d files with %d lines", files, lines); files > 25 || lines > 750 {
		t.Errorf("a new project has more than 25 files or 750 lines: %d and %d", files, lines)
	}
}

// TestNoCommentedBlocks: a feature is a line to add, not a block to uncomment.
func TestNoCommentedBlocks(t *testing.T) {
	root := newProject(t, Project{})
	apply(t)(CreateAPI(fileview.Disk(root), cronJob()))
	for _, f := range tree(t, root).Files {
		if line, ok := commentedBlock(f); ok {
			t.Errorf("%s: commented-out YAML: %s", f.Name, line)
		}
	}
}

// commentedBlock finds a line of configuration that is a comment.
func commentedBlock(f txtar.File) (string, bool) {
	if !strings.HasPrefix(f.Name, "config/") {
		return "", false
	}
	for line := range strings.Lines(string(f.Data)) {
		if comment, ok := strings.CutPrefix(strings.TrimSpace(line), "#"); ok && strings.HasPrefix(strings.TrimSpace(comment), "- ") {
			return line, true
		}
	}
	return "", false
}

func TestInitIsDeterministic(t *testing.T) {
	a, b := tree(t, newProject(t, Project{})), tree(t, newProject(t, Project{}))
	if diff := treeDiff(a, b); diff != "" {
		t.Error(diff)
	}
}

// TestCreateAPITwice: the second time plans nothing.
func TestCreateAPITwice(t *testing.T) {
	root := newProject(t, Project{})
	apply(t)(CreateAPI(fileview.Disk(root), cronJob()))
	again, err := CreateAPI(fileview.Disk(root), cronJob())
	if err != nil {
		t.Fatal(err)
	}
	if !again.Empty() || !strings.Contains(again.Because(), "CronJob with a controller, in api/v1/cronjob_types.go") {
		t.Errorf("%v; there is %q", again.Changes(), again.Because())
	}
}

// TestKubebuilderMain wires an API into a main.go and a suite of the kind that
// kubebuilder scaffolds.
func TestKubebuilderMain(t *testing.T) {
	root := newProject(t, Project{})
	archive := txtar.Parse([]byte(`
-- cmd/main.go --
package main

import (
	"os"

	ctrl "sigs.k8s.io/controller-runtime"

	jobs "example.com/op/api/v1"
	//+kubebuilder:scaffold:imports
)

func init() {
	//+kubebuilder:scaffold:scheme
}

var setupLog = ctrl.Log.WithName("setup")

func main() {
	mgr := ctrl.Manager(nil)
	// +kubebuilder:scaffold:builder
	if err := mgr.Start(nil); err != nil {
		os.Exit(1)
	}
}
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
`))
	for _, f := range archive.Files {
		name := filepath.Join(root, f.Name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, f.Data, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	apply(t)(CreateAPI(fileview.Disk(root), cronJob()))
	for name, want := range map[string]string{
		"cmd/main.go":                       "\t\tsetupLog.Error(err, \"unable to set up the CronJob controller\")\n\t\tos.Exit(1)\n",
		"internal/controller/suite_test.go": "\tExpect(batchv1.AddToScheme(scheme.Scheme)).To(Succeed())\n",
	} {
		if got := read(t, root, name); !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if got := read(t, root, "cmd/main.go"); !strings.Contains(got, "\tutilruntime.Must(jobs.AddToScheme(scheme))\n") {
		t.Errorf("the import's own name is not used:\n%s", got)
	}
	if _, err := os.Stat(filepath.Join(root, "internal/controller/cronjob_controller_test.go")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a plain test was added to a Ginkgo suite")
	}
}

func read(t *testing.T, root, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestImportNamesDoNotCollide: the groups a-b and ab both suggest the name abv1.
func TestImportNamesDoNotCollide(t *testing.T) {
	root := newProject(t, Project{MultiGroup: true})
	for _, group := range []string{"ab", "a-b"} {
		api := cronJob()
		api.Group = group
		apply(t)(CreateAPI(fileview.Disk(root), api))
	}
	main := read(t, root, "cmd/main.go")
	for _, want := range []string{"abv1 \"example.com/op/api/ab/v1\"", "abv12 \"example.com/op/api/a-b/v1\"", "abv12.AddToScheme(scheme)", "abcontroller2.CronJobReconciler{"} {
		if !strings.Contains(main, want) {
			t.Errorf("no %s in\n%s", want, main)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
