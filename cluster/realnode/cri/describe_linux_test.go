package cri

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/slipway-dev/slipway/cluster/realnode/imagestore"
)

// TestImageSubPath: the part of an image that a volume shows is the image's, wherever its links lead.
func TestImageSubPath(t *testing.T) {
	dir := t.TempDir()
	const id = "sha256:1"
	root := filepath.Join(dir, "sha256-1", "root")
	for _, folder := range []string{"run/app", "var", "etc"} {
		if err := os.MkdirAll(filepath.Join(root, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	about, err := json.Marshal(imagestore.Image{ID: id})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "sha256-1", "image.json"), about, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"var/run": "/run", "up": "../../../../../../..", "self": "/proc/self/root", "host": "/etc"} {
		if err := os.Symlink(to, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	store, err := imagestore.Open(dir, imagestore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := &Runtime{options: Options{Images: store}}
	source := func(path string) (string, error) {
		m := &runtimeapi.Mount{ContainerPath: "/mnt", Image: &runtimeapi.ImageSpec{Image: id}, ImageSubPath: path}
		shown, err := r.volumes(&container{config: &runtimeapi.ContainerConfig{Mounts: []*runtimeapi.Mount{m}}})
		if err != nil {
			return "", err
		}
		return shown[0].Source, nil
	}
	for path, want := range map[string]string{"var/run": "run", "var/run/app": "run/app", "up/etc": "etc", "../../../etc": "etc", "host": "etc", "": "."} {
		got, err := source(path)
		if err != nil || got != filepath.Join(root, want) {
			t.Errorf("%q is %s (%v), want the image's %s", path, got, err, want)
		}
	}
	for _, path := range []string{"host/passwd", "self/etc", "var/run/none"} {
		if got, err := source(path); err == nil {
			t.Errorf("%q is %s", path, got)
		}
	}
}
