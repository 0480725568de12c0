package scaffold

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/base"
)

// TestBaseHoldsWhatWasScaffolded: after edits by the user and an insertion by
// create api, the base has the insertion and not the edits.
func TestBaseHoldsWhatWasScaffolded(t *testing.T) {
	root := newProject(t, Project{})
	main := filepath.Join(root, "cmd", "main.go")
	must(t, os.WriteFile(main, []byte(strings.Replace(read(t, root, "cmd/main.go"), "// run runs", "// run, edited, runs", 1)), 0o644))
	must(t, os.WriteFile(filepath.Join(root, "README.md"), []byte("mine"), 0o644))
	apply(t)(CreateAPI(fileview.Disk(root), cronJob()))

	b, err := base.Read(fileview.Disk(root))
	must(t, err)
	inBase := map[string]string{}
	for path, content := range b.Files() {
		inBase[path] = string(content)
	}
	for _, path := range []string{"PROJECT", "go.mod", "go.sum", base.Path} {
		if _, ok := inBase[path]; ok {
			t.Errorf("%s has no merge base, and is in the base", path)
		}
	}
	scaffolded := newProject(t, Project{})
	apply(t)(CreateAPI(fileview.Disk(scaffolded), cronJob()))
	for _, f := range tree(t, scaffolded).Files {
		if want, ok := inBase[f.Name]; ok {
			if diff := cmp.Diff(string(f.Data), want); diff != "" {
				t.Errorf("%s: %s", f.Name, diff)
			}
			delete(inBase, f.Name)
		}
	}
	for path := range maps.Keys(inBase) {
		t.Errorf("the base holds %s, which is not scaffolded", path)
	}
	if got := read(t, root, "cmd/main.go"); !strings.Contains(got, "edited") || !strings.Contains(got, "CronJobReconciler") {
		t.Errorf("main.go lost an edit or the insertion:\n%s", got)
	}
}

func TestDamagedBase(t *testing.T) {
	root := newProject(t, Project{})
	file := filepath.Join(root, filepath.FromSlash(base.Path))
	good, err := os.ReadFile(file)
	must(t, err)
	for _, bad := range [][]byte{nil, []byte("text"), good[:len(good)/2], good[:len(good)-4]} {
		must(t, os.WriteFile(file, bad, 0o644))
		var refusal *report.Error
		if _, err := base.Read(fileview.Disk(root)); !errors.As(err, &refusal) || !strings.HasPrefix(refusal.Where, base.Path) {
			t.Errorf("%d bytes: got %v", len(bad), err)
		}
	}
}

// TestLinesArePrinted: each missing insertion point for which the code shows no place is named, with its text.
func TestLinesArePrinted(t *testing.T) {
	root := newProject(t, Project{})
	main := filepath.Join(root, "cmd", "main.go")
	must(t, os.WriteFile(main, []byte("package main\n\nimport (\n\t\"example.com/op/internal/app\"\n)\n\nfunc main() { app.Run() }\n"), 0o644))
	p, err := CreateAPI(fileview.Disk(root), cronJob())
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(p.Left(), "\n")
	for _, want := range []string{"cmd/main.go:", "scaffold:scheme", "utilruntime.Must(batchv1.AddToScheme(scheme))", "scaffold:builder", "if err := (&controller.CronJobReconciler{"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in %s", want, all)
		}
	}
}

// TestMissingListsAreWarnings: a list without a marker gets its item, and one that cannot be read so is left to the
// user.
func TestMissingListsAreWarnings(t *testing.T) {
	root := newProject(t, Project{})
	for name, content := range map[string]string{
		"config/rbac/kustomization.yaml":    "resources: [role.yaml]\n",
		"config/samples/kustomization.yaml": "resources:\n- other.yaml\n",
		"config/crd/kustomization.yaml":     "resources:\n- bases/other.yaml\n\nconfigurations:\n- kustomizeconfig.yaml\n",
	} {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755))
		must(t, os.WriteFile(filepath.Join(root, name), []byte(content), 0o644))
	}
	must(t, os.Remove(filepath.Join(root, "config/default/kustomization.yaml")))
	before := tree(t, root)
	plan, err := CreateAPI(fileview.Disk(root), cronJob())
	must(t, err)
	left := strings.Join(plan.Left(), "\n")
	for _, want := range []string{"config/rbac/kustomization.yaml:1: ", "- cronjob_editor_role.yaml", "- cronjob_viewer_role.yaml", "config/default/kustomization.yaml: the file is missing", "- ../crd"} {
		if !strings.Contains(left, want) {
			t.Errorf("no %q in\n%s", want, left)
		}
	}
	apply(t)(plan, nil)
	for name, want := range map[string]string{
		"config/rbac/kustomization.yaml":    "resources: [role.yaml]\n",
		"config/samples/kustomization.yaml": "resources:\n- other.yaml\n- batch_v1_cronjob.yaml\n",
		"config/crd/kustomization.yaml":     "resources:\n- bases/other.yaml\n- bases/batch.example.com_cronjobs.yaml\n\nconfigurations:\n- kustomizeconfig.yaml\n",
	} {
		if got := read(t, root, name); got != want {
			t.Errorf("%s is\n%s", name, got)
		}
	}
	apply(t)(DeleteAPI(fileview.Disk(root), deletionOf(cronJob())))
	if diff := treeDiff(before, tree(t, root)); diff != "" {
		t.Error(diff)
	}
}
