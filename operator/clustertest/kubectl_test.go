package clustertest

import (
	"errors"
	"io/fs"
	"path/filepath"
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

func TestNoKubectl(t *testing.T) {
	if _, err := kubectlBeside(filepath.Join(t.TempDir(), "slipway-cluster")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a program without kubectl: %v", err)
	}
}
