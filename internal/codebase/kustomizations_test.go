package codebase

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/fileview"
)

// projectOf is the view of files with these texts.
func projectOf(t *testing.T, files map[string]string) fileview.View {
	t.Helper()
	return fileview.Disk(madeOf(t, files))
}

// madeOf is a folder with files with these texts.
func madeOf(t *testing.T, files map[string]string) string {
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
	return root
}

// change is what it does to a project that files have other texts, or are gone where these are nil.
func change(t *testing.T, view fileview.View, texts map[string][]byte) *ConfigChange {
	t.Helper()
	changed := map[string]bool{}
	for name := range texts {
		changed[name] = true
	}
	c, err := Read(view, os.Getenv).ConfigAfter(Read(fileview.Over(view, texts), os.Getenv), changed)
	if err != nil {
		t.Fatal(err)
	}
	return c
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
		got := change(t, projectOf(t, files), map[string][]byte{changed: []byte("new\n")}).Affected()
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
	k := change(t, projectOf(t, files), map[string][]byte{"config/manager/kustomization.yaml": []byte("resources: [manager.yaml, new.yaml]\n")})
	for folder, want := range map[string]bool{
		"config/default": false, "config/manager": false, "config/metrics": true, "config/samples": false, "config/remote": false,
		"config/circle": false, "config/waiting": false, "config/maps": true,
	} {
		if got := k.Complete(folder); got != want {
			t.Errorf("%s: got %v, want %v", folder, got, want)
		}
	}
}

// What a change deletes is not waited for.
func TestCompleteWithoutDeleted(t *testing.T) {
	k := change(t, projectOf(t, files), map[string][]byte{"config/manager/manager.yaml": nil})
	if !k.Complete("config/default") || !slices.Contains(k.Affected(), "config/default") {
		t.Error("config/default is not to be built, though the change deletes a part of it")
	}
}

func TestListedBy(t *testing.T) {
	k, err := Read(projectOf(t, files), os.Getenv).Config()
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

func TestDeployedFiles(t *testing.T) {
	manager := Listed{"config/manager/manager.yaml", "config/manager/kustomization.yaml"}
	for name, test := range map[string]struct {
		files map[string]string
		after map[string][]byte
		want  []Listed
	}{
		"listed": {nil, nil, []Listed{manager}},
		"in order, and once": {map[string]string{
			"config/default/kustomization.yaml": "resources: [../metrics/b.yaml, ../manager, a.yaml, ../manager/manager.yaml, gone.yaml, 'https://example.com/x', ../../../x.yaml]\nbases: [../manager]\n",
			"config/default/a.yaml":             "",
			"config/metrics/b.yaml":             "",
		}, nil, []Listed{
			{"config/metrics/b.yaml", "config/default/kustomization.yaml"}, manager, {"config/default/a.yaml", "config/default/kustomization.yaml"},
		}},
		"in a circle":           {map[string]string{"config/default/kustomization.yaml": "resources: [../default, ../manager]\n"}, nil, []Listed{manager}},
		"a key of another type": {map[string]string{"config/manager/kustomization.yaml": "kind: []\nresources: [manager.yaml]\nhelmCharts: {}\ngenerators: x\n"}, nil, []Listed{manager}},
		"no YAML":               {map[string]string{"config/manager/kustomization.yaml": "resources: [\n"}, nil, nil},
		"below a file":          {map[string]string{"config/default/kustomization.yaml": "resources: [../manager/manager.yaml/x.yaml, ../manager]\n"}, nil, []Listed{manager}},
		"without a list":        {map[string]string{"config/default/kustomization.yaml": "resources: [dir, ../manager]\n", "config/default/dir/x.yaml": ""}, nil, []Listed{manager}},
		"planned": {nil, map[string][]byte{
			"config/default/kustomization.yaml": []byte("resources: [new.yaml, ../new]\n"), "config/default/new.yaml": []byte("a: b\n"),
			"config/new/kustomization.yaml": []byte("resources: [x.yaml]\n"), "config/new/x.yaml": []byte("a: b\n"),
		}, []Listed{{"config/default/new.yaml", "config/default/kustomization.yaml"}, {"config/new/x.yaml", "config/new/kustomization.yaml"}}},
		"of another name": {map[string]string{"config/manager/kustomization.yml": "resources: [manager.yaml]\n"}, map[string][]byte{"config/manager/kustomization.yaml": nil}, []Listed{{manager.File, "config/manager/kustomization.yml"}}},
		"deleted":         {nil, map[string][]byte{"config/manager/kustomization.yaml": nil}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			all := maps.Clone(files)
			maps.Copy(all, test.files)
			view := fileview.Over(projectOf(t, all), test.after)
			if got, err := Read(view, os.Getenv).DeployedFiles("config/default"); err != nil || !slices.Equal(got, test.want) {
				t.Errorf("got %q, %v, want %q", got, err, test.want)
			}
		})
	}
}

// A kustomization that cannot be read is reported; which files there are would be a guess.
func TestDeployedFilesUnreadable(t *testing.T) {
	p := projectOf(t, map[string]string{"config/default/kustomization.yaml": "resources: [../manager]\n", "config/manager/kustomization.yaml/x": ""})
	if _, err := Read(p, os.Getenv).DeployedFiles("config/default"); err == nil || !strings.Contains(err.Error(), "config/manager/kustomization.yaml") {
		t.Errorf("got %v", err)
	}
}

// No more names are looked at than the bound.
func TestDeployedFilesBounded(t *testing.T) {
	many := map[string]string{}
	var list strings.Builder
	list.WriteString("resources:\n")
	for i := range mostListed + 1 {
		name := fmt.Sprintf("%d.yaml", i)
		many["config/default/"+name] = ""
		list.WriteString("- " + name + "\n")
	}
	many["config/default/kustomization.yaml"] = list.String()
	if got, err := Read(projectOf(t, many), os.Getenv).DeployedFiles("config/default"); err != nil || len(got) != mostListed {
		t.Errorf("got %d files, %v", len(got), err)
	}
}

func TestTops(t *testing.T) {
	root := madeOf(t, map[string]string{
		"config/default/kustomization.yaml":      "resources: [../manager, base/]\n",
		"config/default/base/kustomization.yaml": "resources: [x.yaml]\n",
		"config/manager/kustomization.yml":       "resources: [manager.yaml]\n",
		"config/metrics/kustomization.yaml":      "kind: Component\n",
		"config/circle/kustomization.yaml":       "resources: [../circle]\n",
		"config/broken/kustomization.yaml":       "resources: [\n",
		"config/unreadable/kustomization.yaml/x": "",
		"manifests/one/base/kustomization.yaml":  "resources: [x.yaml]\n",
		"manifests/one/kustomization.yaml":       "resources: [y.yaml]\n",
		"vendor/x/kustomization.yaml":            "resources: [y.yaml]\n",
		".git/x/kustomization.yaml":              "resources: [y.yaml]\n",
		"linked.yaml":                            "resources: [../config/alone]\n",
		"config/alone/kustomization.yaml":        "resources: [y.yaml]\n",
		"links/x":                                "",
	})
	want := []string{"config/broken", "config/default", "manifests/one", "manifests/one/base"}
	if err := os.Symlink("../linked.yaml", filepath.Join(root, "links", "kustomization.yaml")); err != nil {
		want = slices.Insert(want, 0, "config/alone")
	} else {
		want = slices.Insert(want, 2, "links")
	}
	k, err := Read(fileview.Disk(root), os.Getenv).Config()
	if err != nil {
		t.Fatal(err)
	}
	if got := k.Tops(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := k.ListedBy("config/alone"); len(got) > 0 {
		t.Errorf("a link counts, too: %q", got)
	}
}

// One that is deleted is none.
func TestTopsAfter(t *testing.T) {
	view := projectOf(t, map[string]string{"config/default/kustomization.yaml": "resources: [../manager]\n", "config/manager/kustomization.yaml": "resources: [manager.yaml]\n"})
	k := change(t, view, map[string][]byte{"config/default/kustomization.yaml": nil})
	if got, want := k.Tops(), []string{"config/manager"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestBroken: a change that damages a list is found whether the kustomization builds or not, and no other change is.
func TestBroken(t *testing.T) {
	const file = "config/crd/kustomization.yaml"
	for after, want := range map[string]bool{
		"resources:\n- a.yaml\n- b.yaml\n":         false,
		"resources:\n- a.yaml\n  - b.yaml\n":       true,
		"resources:\n  - a.yaml\n- b.yaml\n":       true,
		"resources: []\n":                          false,
		"resources:\n- b.yaml\n# - a.yaml\n":       false,
		"resources:\n- a.yaml\npatches:\n- x: [\n": true,
	} {
		view := projectOf(t, map[string]string{file: "resources:\n- a.yaml\n"})
		if got, broken := change(t, view, map[string][]byte{file: []byte(after)}).Broken(); broken != want || broken && got != file {
			t.Errorf("%q: got %s, %v", after, got, broken)
		}
	}
}

// TestKustomization: a kustomization is found under each of its names.
func TestKustomization(t *testing.T) {
	code := Read(projectOf(t, map[string]string{"a/Kustomization": "", "b/kustomization.yml": "", "c/kustomization.yaml/x": "", "d/x": ""}), os.Getenv)
	for folder, want := range map[string]string{"a": "a/Kustomization", "b": "b/kustomization.yml", "c": "", "d": "", "e": ""} {
		if got := code.Kustomization(folder); got != want {
			t.Errorf("%s: got %q, want %q", folder, got, want)
		}
	}
	if got := code.KustomizationFor("d"); got != "d/kustomization.yaml" {
		t.Errorf("got %q", got)
	}
}
