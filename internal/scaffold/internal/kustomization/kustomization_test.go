package kustomization

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/slipway-dev/slipway/internal/scaffold/internal/plan"
)

// project is a plan for files with these texts.
func project(t *testing.T, files map[string]string) *plan.Plan {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return plan.Reading(root)
}

var files = map[string]string{
	"config/default/kustomization.yaml":  "resources: [../manager]\ncomponents: [../metrics]\n",
	"config/manager/kustomization.yaml":  "resources: [manager.yaml]\nconfigMapGenerator: [{name: own, files: [key=own.txt]}]\n",
	"config/manager/manager.yaml":        "kind: Deployment\n",
	"config/manager/own.txt":             "own\n",
	"config/metrics/kustomization.yaml":  "kind: Component\npatches: [{path: patch.yaml}]\n",
	"config/metrics/patch.yaml":          "[]\n",
	"config/samples/kustomization.yml":   "resources: []\n",
	"config/remote/kustomization.yaml":   "resources: [../default, 'https://example.com/x']\n",
	"config/circle/kustomization.yaml":   "resources: [../circle, ../manager]\n",
	"config/broken/kustomization.yaml":   "resources: [\n",
	"config/waiting/kustomization.yaml":  "resources: [../samples, ../default]\n",
	"vendor/x/config/kustomization.yaml": "resources: [y.yaml]\n",
	"config/maps/kustomization.yaml":     "configMapGenerator: [{name: own}]\nresources: []\n",
}

func TestAffected(t *testing.T) {
	for changed, want := range map[string][]string{
		"config/manager/own.txt":             {"config/remote", "config/waiting", "config/default", "config/circle", "config/manager"},
		"config/metrics/patch.yaml":          {"config/remote", "config/waiting", "config/default"},
		"vendor/x/config/kustomization.yaml": nil,
		"cmd/main.go":                        nil,
	} {
		p := project(t, files)
		if err := p.Write(changed, []byte("new\n")); err != nil {
			t.Fatal(err)
		}
		k, err := Read(p)
		if err != nil {
			t.Fatal(err)
		}
		got := k.Affected()
		if !equal(got, want) {
			t.Errorf("%s: got %q, want %q", changed, got, want)
		}
		if at := slices.Index(got, "config/default"); at >= 0 && at < slices.Index(got, "config/remote") {
			t.Errorf("%s: config/default is before what builds of it: %q", changed, got)
		}
	}
}

// equal reports whether two lists have the same elements.
func equal(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

func TestComplete(t *testing.T) {
	p := project(t, files)
	if err := p.Write("config/manager/kustomization.yaml", []byte("resources: [manager.yaml, new.yaml]\n")); err != nil {
		t.Fatal(err)
	}
	k, err := Read(p)
	if err != nil {
		t.Fatal(err)
	}
	for folder, want := range map[string]bool{
		"config/default": false, "config/manager": false, "config/metrics": true, "config/samples": false, "config/remote": false,
		"config/circle": false, "config/waiting": false, "config/maps": true,
	} {
		if got := k.Complete(folder); got != want {
			t.Errorf("%s: got %v, want %v", folder, got, want)
		}
	}
}

// What a plan deletes is not waited for.
func TestCompleteWithoutDeleted(t *testing.T) {
	p := project(t, files)
	if err := p.Remove("config/manager/manager.yaml"); err != nil {
		t.Fatal(err)
	}
	k, err := Read(p)
	if err != nil {
		t.Fatal(err)
	}
	if !k.Complete("config/default") || !slices.Contains(k.Affected(), "config/default") {
		t.Error("config/default is not to be built, though the plan deletes a part of it")
	}
}

func TestListedBy(t *testing.T) {
	k, err := Read(project(t, files))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := k.ListedBy("config/manager"), []string{"config/circle", "config/default"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := k.Parts("config/default"), []string{"config/default", "config/manager", "config/metrics"}; !equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := k.File("config/samples"), "config/samples/kustomization.yml"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
