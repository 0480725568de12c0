package clustertest

import (
	"bytes"
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
	find := func() (string, bool, error) { return findKubectl(filepath.Join(dir, "slipway-cluster"), getenv) }
	if path, _, err := find(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nowhere: %s, %v", path, err)
	}
	end := ""
	if runtime.GOOS == "windows" {
		end = ".exe"
	}
	for i, want := range []string{filepath.Join(assets, "kubectl"+end), filepath.Join(dir, "slipway-kubectl"+end)} {
		if err := os.WriteFile(want, nil, 0o700); err != nil {
			t.Fatal(err)
		}
		if path, compiled, err := find(); path != want || compiled != (i == 1) || err != nil {
			t.Errorf("found %s, compiled: %t, %v; want %s", path, compiled, err, want)
		}
	}
}

// TestCompileKubectl: a kubectl that compiles itself does so before a test calls it.
func TestCompileKubectl(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a shell script stands in for slipway")
	}
	dir := t.TempDir()
	kubectl := filepath.Join(dir, "kubectl")
	play := func(script string) (progress string, err error) {
		t.Helper()
		if err := os.WriteFile(kubectl, []byte("#!/bin/sh\necho \"$@\" >'"+dir+"/args'\necho compiling >&2\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		var told bytes.Buffer
		err = compileKubectl(t.Context(), kubectl, "config", &told)
		return told.String(), err
	}
	if progress, err := play("echo v1"); progress != "compiling\n" || err != nil {
		t.Errorf("it printed %q, %v", progress, err)
	}
	if args, err := os.ReadFile(filepath.Join(dir, "args")); string(args) != "--kubeconfig=config version --client\n" || err != nil {
		t.Errorf("called with %q, %v", args, err)
	}
	if _, err := play("echo 'error: no network' >&2; exit 1"); err == nil || !strings.Contains(err.Error(), "no network") {
		t.Errorf("the error is %v", err)
	}
}
