package clustertest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestKubectl(t *testing.T) {
	c := usual(t)
	ns := c.Namespace(t)
	create(t, c.Client(t), widget(ns, "one"))
	out, err := c.Kubectl(t, "get", "widgets", "--namespace", ns, "--output", "name")
	if err != nil || out != "widget.example.com/one\n" {
		t.Errorf("get: %q, %v", out, err)
	}
	if _, err := c.Kubectl(t, "get", "widgets", "none", "--namespace", ns); err == nil || !strings.Contains(err.Error(), `"none" not found`) {
		t.Errorf("get what does not exist: %v", err)
	}
}

// TestManifest: an object of a type, which does not say its kind, is one that kubectl creates.
func TestManifest(t *testing.T) {
	c := usual(t)
	object := configMap(c.Namespace(t), "written")
	out, err := c.Kubectl(t, "create", "--filename", c.Manifest(t, object), "--output", "name")
	if err != nil || out != "configmap/written\n" {
		t.Errorf("create: %q, %v", out, err)
	}
	object.Name = "No Name"
	if _, err := c.Kubectl(t, "create", "--filename", c.Manifest(t, object)); err == nil || !strings.Contains(err.Error(), `The ConfigMap "No Name" is invalid: metadata.name`) {
		t.Errorf("a bad name: %v", err)
	}
}

// TestKubectlExplain: a kind that was installed a moment ago is explained at once.
func TestKubectlExplain(t *testing.T) {
	c := usual(t).Isolated(t, Controllers(false))
	out, err := c.Kubectl(t, "explain", "widget")
	if err != nil || !strings.Contains(out, "KIND:       Widget") {
		t.Errorf("explain: %q, %v", out, err)
	}
}

// TestFindKubectl: the one beside the program is preferred to the one among envtest's programs.
func TestFindKubectl(t *testing.T) {
	dir, assets := t.TempDir(), t.TempDir()
	getenv := func(name string) string { return map[string]string{assetsVariable: assets}[name] }
	find := func() (string, error) { return findKubectl(filepath.Join(dir, "slipway-cluster"), getenv) }
	if path, err := find(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nowhere: %s, %v", path, err)
	}
	end := ""
	if runtime.GOOS == "windows" {
		end = ".exe"
	}
	for _, want := range []string{filepath.Join(assets, "kubectl"+end), filepath.Join(dir, "slipway-kubectl"+end)} {
		if err := os.WriteFile(want, nil, 0o700); err != nil {
			t.Fatal(err)
		}
		if path, err := find(); path != want || err != nil {
			t.Errorf("found %s, %v; want %s", path, err, want)
		}
	}
}
