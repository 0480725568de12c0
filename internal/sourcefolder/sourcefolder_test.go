package sourcefolder_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/sourcefolder"
)

// names are those of the folders that are judged, and what they are without.
var names = map[string]struct{ golang, code, configuration bool }{
	".git":         {true, true, true},
	"_old":         {true, true, false},
	"testdata":     {true, true, true},
	"vendor":       {true, true, true},
	"node_modules": {false, true, true},
	"bin":          {false, false, true},
	"config":       {false, false, false},
	"api":          {false, false, false},
}

func TestNames(t *testing.T) {
	for name, want := range names {
		if got := sourcefolder.PassedOverByGo(name); got != want.golang {
			t.Errorf("PassedOverByGo(%s) is %v", name, got)
		}
		if got := sourcefolder.WithoutCode(name); got != want.code {
			t.Errorf("WithoutCode(%s) is %v", name, got)
		}
		if got := sourcefolder.WithoutConfiguration(name); got != want.configuration {
			t.Errorf("WithoutConfiguration(%s) is %v", name, got)
		}
	}
	for name, want := range map[string]bool{"cobra@v1.9.1": true, "api": false, "at@home": false} {
		if sourcefolder.Downloaded(name) != want || sourcefolder.WithoutCode(name) != want {
			t.Errorf("Downloaded(%s) is %v", name, !want)
		}
	}
}

// TestAsGo compares with what the go command lists: a package below a folder of each name, in a module, and beside a
// go.mod that is a folder.
func TestAsGo(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "go.mod"), "module example.com/a\n")
	for name := range names {
		write(t, filepath.Join(root, name, "p", "a.go"), "package a\n")
	}
	write(t, filepath.Join(root, "nested", "go.mod"), "module example.com/b\n")
	write(t, filepath.Join(root, "nested", "p", "a.go"), "package a\n")
	write(t, filepath.Join(root, "folder", "go.mod", "README"), "a folder\n")
	write(t, filepath.Join(root, "folder", "p", "a.go"), "package a\n")
	cmd := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.Dir}}", "./...")
	cmd.Dir, cmd.Env = root, append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for dir := range strings.Lines(string(out)) {
		listed[filepath.Base(filepath.Dir(strings.TrimSpace(dir)))] = true
	}
	for name := range names {
		if sourcefolder.PassedOverByGo(name) == listed[name] {
			t.Errorf("%s: the go command lists it: %v", name, listed[name])
		}
	}
	for _, name := range []string{"nested", "folder"} {
		if sourcefolder.IsModule(filepath.Join(root, name)) == listed[name] {
			t.Errorf("%s: the go command lists it: %v", name, listed[name])
		}
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
