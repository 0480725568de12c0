package clustertest

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

func TestKubectl(t *testing.T) {
	c := shared.Cluster(t)
	ns := c.Namespace(t)
	create(t, c.Client(t), widget(ns, "one"))
	out, err := c.Kubectl(t, "get", "widgets", "--namespace", ns, "--output", "name")
	if err != nil || out != "widget.example.com/one\n" {
		t.Errorf("get: %q, %v", out, err)
	}
	if _, err := c.Kubectl(t, "get", "widgets", "none", "--namespace", ns); err == nil || !strings.Contains(err.Error(), `"none" not found`) {
		t.Errorf("get what is not there: %v", err)
	}
}

func TestNoKubectl(t *testing.T) {
	if _, err := kubectlBeside(filepath.Join(t.TempDir(), "slipway-cluster")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a program without kubectl: %v", err)
	}
}
