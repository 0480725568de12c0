package scaffold

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
	apply(t)(CreateAPI(root, cronJob()))

	b, err := base.Read(root)
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
	apply(t)(CreateAPI(scaffolded, cronJob()))
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
		if _, err := base.Read(root); !errors.As(err, &refusal) || !strings.HasPrefix(refusal.Where, base.Path) {
			t.Errorf("%d bytes: got %v", len(bad), err)
		}
	}
}

// TestRefusalsAreTold: each missing insertion point is named, with its text.
func TestRefusalsAreTold(t *testing.T) {
	root := newProject(t, Project{})
	main := filepath.Join(root, "cmd", "main.go")
	src := strings.NewReplacer("// +kubebuilder:scaffold:scheme", "").Replace(read(t, root, "cmd/main.go"))
	must(t, os.WriteFile(main, []byte(src), 0o644))
	must(t, os.WriteFile(filepath.Join(root, "config/rbac/kustomization.yaml"), []byte("resources: [role.yaml]\n"), 0o644))
	_, err := CreateAPI(root, cronJob())
	var refusal *report.Error
	if !errors.As(err, &refusal) {
		t.Fatalf("got %v", err)
	}
	all := refusal.Where + "\n" + refusal.What + "\n" + refusal.Hint
	for _, want := range []string{"config/rbac/kustomization.yaml:1", "- cronjob_editor_role.yaml", "- cronjob_viewer_role.yaml", "cmd/main.go:", "utilruntime.Must(batchv1.AddToScheme(scheme))"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in\n%s", want, all)
		}
	}
}
