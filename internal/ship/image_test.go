package ship

import (
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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
			objects, err := BuildWithImage(t.Context(), overall, manager, test.image)
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
	objects, err := BuildWithImage(t.Context(), filepath.Join(link, "default"), filepath.Join(link, "manager"), "example.com/op:v1")
	if err != nil {
		t.Fatal(err)
	}
	if got := images(objects[0]); got[0] != "example.com/op:v1" {
		t.Errorf("images %v", got)
	}
}

func TestBuildWithImageWithoutManager(t *testing.T) {
	overall, _ := imageProject(t, "resources: [manager.yaml]\n")
	if _, err := BuildWithImage(t.Context(), overall, t.TempDir(), "example.com/op:v1"); err == nil {
		t.Error("built without a place to set the image")
	}
}
