package kustomization

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/report"
)

// imageProject writes a small kustomization of two folders and returns them.
func imageProject(t *testing.T, manager string) (overall, folder string) {
	t.Helper()
	root := t.TempDir()
	for path, content := range map[string]string{
		"default/kustomization.yaml": "namePrefix: op-\nresources:\n- ../manager\n",
		"manager/kustomization.yaml": manager,
		"manager/manager.yaml": `apiVersion: apps/v1
kind: Deployment
metadata: {name: manager}
spec: {template: {spec: {containers: [{name: manager, image: "controller:latest"}, {name: proxy, image: proxy:v1}]}}}
`,
	} {
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(root, "default"), filepath.Join(root, "manager")
}

// images lists the images of an object's containers.
func images(object *unstructured.Unstructured) []string {
	containers, _, _ := unstructured.NestedSlice(object.Object, "spec", "template", "spec", "containers")
	var all []string
	for _, container := range containers {
		all = append(all, container.(map[string]any)["image"].(string))
	}
	return all
}

func TestBuildWithImage(t *testing.T) {
	for name, test := range map[string]struct{ manager, image, want string }{
		"plain":            {"resources: [manager.yaml]\n", "example.com/op:v1", "example.com/op:v1"},
		"the project's":    {"resources: [manager.yaml]\n", "", "controller:latest"},
		"set before":       {"resources: [manager.yaml]\nimages: [{name: controller, newName: example.com/old, newTag: v0}]\n", "example.com/op:v1", "example.com/op:v1"},
		"set, and kept":    {"resources: [manager.yaml]\nimages: [{name: controller, newName: example.com/old, newTag: v0}]\n", "", "example.com/old:v0"},
		"a port, no tag":   {"resources: [manager.yaml]\n", "localhost:5000/op", "localhost:5000/op:latest"},
		"a digest":         {"resources: [manager.yaml]\n", "localhost:5000/op@sha256:1234", "localhost:5000/op@sha256:1234"},
		"others untouched": {"resources: [manager.yaml]\nimages: [{name: proxy, newTag: v1}]\n", "example.com/op:v1", "example.com/op:v1"},
	} {
		t.Run(name, func(t *testing.T) {
			overall, manager := imageProject(t, test.manager)
			objects, err := Kustomization{Folder: overall, Image: test.image}.Build(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if got := images(objects[0]); got[0] != test.want || got[1] != "proxy:v1" {
				t.Errorf("images %v, want %s and proxy:v1", got, test.want)
			}
			source, err := os.ReadFile(filepath.Join(manager, "kustomization.yaml"))
			if err != nil || string(source) != test.manager {
				t.Errorf("the project's file is now %q, %v", source, err)
			}
		})
	}
}

func TestBuildWithImageThroughLink(t *testing.T) {
	overall, _ := imageProject(t, "resources: [manager.yaml]\n")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(filepath.Dir(overall), link); err != nil {
		t.Skip(err)
	}
	objects, err := Kustomization{Folder: filepath.Join(link, "default"), Image: "example.com/op:v1"}.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := images(objects[0]); got[0] != "example.com/op:v1" {
		t.Errorf("images %v", got)
	}
}

// TestBuildWithImageAnywhere: the image is set wherever the tree names it, however deep, and also where nothing names
// it.
func TestBuildWithImageAnywhere(t *testing.T) {
	deployment := func(name, image string) string {
		return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: " + name + "}\nspec: {template: {spec: {containers: [{name: c, image: \"" + image + "\"}]}}}\n"
	}
	for name, archive := range map[string]string{
		"named far below":    "-- kustomization.yaml --\nresources: [components/manager]\n-- components/manager/kustomization.yaml --\nresources: [m.yaml]\nimages: [{name: controller, newName: example.com/staging, newTag: main}]\n-- components/manager/m.yaml --\n" + deployment("m", "controller:latest"),
		"named nowhere":      "-- kustomization.yaml --\nresources: [components/manager]\n-- components/manager/kustomization.yaml --\nresources: [m.yaml]\n-- components/manager/m.yaml --\n" + deployment("m", "controller"),
		"named above":        "-- kustomization.yaml --\nresources: [middle]\n-- middle/kustomization.yml --\nresources: [manager]\nimages: [{name: controller, newName: example.com/staging}]\n-- middle/manager/Kustomization --\nresources: [m.yaml]\n-- middle/manager/m.yaml --\n" + deployment("m", "controller:v1"),
		"with a misspelling": "",
	} {
		t.Run(name, func(t *testing.T) {
			if archive == "" {
				_, err := Kustomization{Folder: unpack(t, "-- kustomization.yaml --\nresorces: []\n"), Image: "example.com/op:v1"}.Build(t.Context())
				if e, ok := errors.AsType[*report.Error](err); !ok || e.What != "the kustomization does not build" {
					t.Errorf("got %v", err)
				}
				return
			}
			objects, err := Kustomization{Folder: unpack(t, archive), Image: "example.com/op:v2"}.Build(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if got := images(objects[0]); got[0] != "example.com/op:v2" {
				t.Errorf("images %v", got)
			}
		})
	}
}

// TestBuildGenerated: what would be generated is built, also as a new file, in a new folder and through a link, and
// nothing is written.
func TestBuildGenerated(t *testing.T) {
	dir := unpack(t, "-- kustomization.yaml --\nresources: [there.yaml, bases/new.yaml]\n-- there.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: old}\n")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Skip(err)
	}
	named := func(name string) []byte {
		return []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\n")
	}
	objects, err := Kustomization{Folder: dir, Changed: map[string][]byte{
		filepath.Join(link, "there.yaml"): named("first"), filepath.Join(link, "bases", "new.yaml"): named("second"),
	}}.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(objects) != 2 || objects[0].GetName() != "first" || objects[1].GetName() != "second" {
		t.Errorf("built %v", objects)
	}
	if _, err := os.Stat(filepath.Join(dir, "bases")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder was written: %v", err)
	}
}

// TestBuildWithoutDeleted: a file that would be deleted is missed, whatever link names it, and stays.
func TestBuildWithoutDeleted(t *testing.T) {
	dir := unpack(t, "-- kustomization.yaml --\nresources: [there.yaml]\n-- there.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: old}\n")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Skip(err)
	}
	if objects, err := (Kustomization{Folder: dir, Changed: map[string][]byte{filepath.Join(link, "there.yaml"): nil}}).Build(t.Context()); err == nil {
		t.Errorf("built %v", objects)
	}
	if _, err := (Kustomization{Folder: dir}).Build(t.Context()); err != nil {
		t.Error(err)
	}
}
