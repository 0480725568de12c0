package toollink_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/toollink"
)

// program is a script in a folder with a name that shells must not take apart, which says what it was called with.
func program(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "it's here", "slipway")
	write(t, path, "#!/bin/sh\necho \"$SLIPWAY_STANDS_FOR $*\"\n", 0o755)
	return path
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), mode)); err != nil {
		t.Fatal(err)
	}
}

// actions are those of changes, by the names of the files.
func actions(changes []toollink.Change) map[string]report.Action {
	all := map[string]report.Action{}
	for _, c := range changes {
		all[filepath.Base(c.Path)] = c.Action
	}
	return all
}

func link(t *testing.T, f toollink.Folder) map[string]report.Action {
	t.Helper()
	changes, err := f.Link()
	if err != nil {
		t.Fatal(err)
	}
	return actions(changes)
}

// TestLink: each tool is slipway, called under the tool's name and told the version that it stands for.
func TestLink(t *testing.T) {
	f := toollink.Folder{Path: filepath.Join(t.TempDir(), "bin"), Program: program(t), Versions: map[string]string{"controller-gen": "v0.19.0", "kustomize": "v5.7.1"}}
	created := map[string]report.Action{
		"controller-gen": report.Created, "controller-gen-v0.19.0": report.Created, "kustomize": report.Created, "kustomize-v5.7.1": report.Created,
		"setup-envtest": report.Created, "kubectl": report.Created,
	}
	if diff := cmp.Diff(created, link(t, f)); diff != "" {
		t.Error(diff)
	}
	folder, err := os.Stat(f.Path)
	if err != nil {
		t.Fatal(err)
	}
	for name := range created {
		if script, err := os.Stat(filepath.Join(f.Path, name)); err != nil || script.ModTime().Before(folder.ModTime()) {
			t.Errorf("%s is older than its folder: make takes it for out of date (%v)", name, err)
		}
	}
	for name, want := range map[string]string{
		"controller-gen": "v0.19.0 controller-gen a b\n", "controller-gen-v0.19.0": "v0.19.0 controller-gen a b\n", "kubectl": " kubectl a b\n",
	} {
		if out, err := exec.Command(filepath.Join(f.Path, name), "a", "b").CombinedOutput(); err != nil || string(out) != want {
			t.Errorf("%s says %q, %v, want %q", name, out, err, want)
		}
	}
	for name, action := range link(t, f) {
		if action != report.Unchanged {
			t.Errorf("a second time %s is %s", name, action)
		}
	}
	f.Versions["kustomize"] = "v5.8.0"
	if got := link(t, f); got["kustomize"] != report.Updated || got["kustomize-v5.8.0"] != report.Created || got["kubectl"] != report.Unchanged {
		t.Errorf("with another version: %v", got)
	}
	if left, err := filepath.Glob(filepath.Join(f.Path, ".slipway-*")); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}

// TestWhose: only what slipway made, or nothing, is replaced, unless all is to be.
func TestWhose(t *testing.T) {
	for _, test := range []struct {
		name  string
		there func(f toollink.Folder, path string) error
		force bool
		want  report.Action
	}{
		{"a file of others", func(_ toollink.Folder, path string) error { return os.WriteFile(path, []byte("theirs"), 0o755) }, false, report.Kept},
		{"a file of others, by force", func(_ toollink.Folder, path string) error { return os.WriteFile(path, []byte("theirs"), 0o755) }, true, report.Updated},
		{"a link to nothing", func(_ toollink.Folder, path string) error { return os.Symlink("nothing", path) }, false, report.Updated},
		{"a link to slipway", func(f toollink.Folder, path string) error { return os.Symlink(f.Program, path) }, false, report.Updated},
		{"a script of another slipway", func(f toollink.Folder, path string) error {
			other := toollink.Folder{Path: f.Path, Program: "/elsewhere/slipway"}
			_, err := other.Link()
			return err
		}, false, report.Updated},
	} {
		f := toollink.Folder{Path: t.TempDir(), Program: program(t), Force: test.force}
		if err := test.there(f, filepath.Join(f.Path, "kubectl")); err != nil {
			t.Fatal(err)
		}
		if got := link(t, f)["kubectl"]; got != test.want {
			t.Errorf("%s: it is %s, want %s", test.name, got, test.want)
		}
	}
	// A version's script that is not ours keeps the tool's name from leading to it.
	f := toollink.Folder{Path: t.TempDir(), Program: program(t), Versions: map[string]string{"kubectl": "v1"}}
	write(t, filepath.Join(f.Path, "kubectl-v1"), "theirs", 0o755)
	if got := link(t, f); got["kubectl-v1"] != report.Kept || got["kubectl"] != "" {
		t.Errorf("got %v", got)
	}
	// A folder in the place of the tools' folder is told.
	write(t, filepath.Join(f.Path, "file"), "", 0o644)
	f.Path = filepath.Join(f.Path, "file")
	if _, err := f.Link(); err == nil {
		t.Error("a file is taken for a folder")
	}
}

// TestUnlink removes what Link made, and nothing else.
func TestUnlink(t *testing.T) {
	f := toollink.Folder{Path: filepath.Join(t.TempDir(), "bin"), Program: program(t), Versions: map[string]string{"kustomize": "v5.7.1"}}
	if changes, err := f.Unlink(); err != nil || len(changes) > 0 {
		t.Errorf("without a folder: %v, %v", changes, err)
	}
	link(t, f)
	write(t, filepath.Join(f.Path, "golangci-lint"), "theirs", 0o755)
	changes, err := f.Unlink()
	if err != nil || len(changes) != 5 {
		t.Errorf("got %v, %v", changes, err)
	}
	left, err := os.ReadDir(f.Path)
	if err != nil || len(left) != 1 || left[0].Name() != "golangci-lint" {
		t.Errorf("%v is left, %v", left, err)
	}
}
