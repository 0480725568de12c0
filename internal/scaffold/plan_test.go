package scaffold

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/project"
)

func cronJobResource() project.Resource {
	return project.Resource{Group: "batch", Version: "v1", Kind: "CronJob", Domain: "example.com"}
}

func emptyPlan(t *testing.T) (*Plan, string) {
	t.Helper()
	root := t.TempDir()
	p, err := newPlan(root)
	if err != nil {
		t.Fatal(err)
	}
	return p, root
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestApplyAllOrNothing: when the last file cannot be written, those before it are
// as they were, and so are the folders.
func TestApplyAllOrNothing(t *testing.T) {
	p, root := emptyPlan(t)
	must(t, os.WriteFile(filepath.Join(root, "old"), []byte("old"), 0o600))
	must(t, os.WriteFile(filepath.Join(root, "blocked"), nil, 0o644))
	must(t, p.create("deep/er/new", []byte("new")))
	must(t, p.write("old", []byte("changed")))
	p.changes = append(p.changes, &change{path: "blocked/file", after: []byte("x"), action: report.Created}) // below a file
	before := tree(t, root)
	if err := p.Apply(report.Discard); err == nil {
		t.Fatal("no error")
	}
	if diff := cmp.Diff(before, tree(t, root)); diff != "" {
		t.Error(diff)
	}
	if _, err := os.Stat(filepath.Join(root, "deep")); err == nil {
		t.Error("a folder was left behind")
	}
}

// TestApplyRefusesChangedFile: what someone else wrote after planning stays.
func TestApplyRefusesChangedFile(t *testing.T) {
	for _, path := range []string{"there", "not-there"} {
		p, root := emptyPlan(t)
		must(t, os.WriteFile(filepath.Join(root, "there"), []byte("planned"), 0o644))
		must(t, p.write(path, []byte("ours")))
		must(t, os.WriteFile(filepath.Join(root, path), []byte("theirs"), 0o644))
		var refusal *report.Error
		if err := p.Apply(report.Discard); !errors.As(err, &refusal) || refusal.Where != path {
			t.Errorf("%s: got %v", path, err)
		}
		if got := read(t, root, path); got != "theirs" {
			t.Errorf("%s holds %q", path, got)
		}
	}
}

func TestApplyKeepsModeAndLinks(t *testing.T) {
	p, root := emptyPlan(t)
	must(t, os.WriteFile(filepath.Join(root, "target"), []byte("old"), 0o750))
	if err := os.Symlink("target", filepath.Join(root, "link")); err != nil {
		t.Skip("no symbolic links here")
	}
	must(t, p.write("link", []byte("new")))
	must(t, p.Apply(report.Discard))
	info, err := os.Lstat(filepath.Join(root, "target"))
	must(t, err)
	if got := read(t, root, "target"); got != "new" || info.Mode().Perm() != 0o750 {
		t.Errorf("target holds %q with mode %v", got, info.Mode())
	}
	if info, err := os.Lstat(filepath.Join(root, "link")); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v", err)
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
