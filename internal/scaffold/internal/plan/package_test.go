package plan

import (
	"os"
	"path/filepath"
	"testing"
)

// TestPackageOfFolder: a new Go file gets the name of the package in its folder, its doc included.
func TestPackageOfFolder(t *testing.T) {
	p, root := emptyPlan(t)
	for name, content := range map[string]string{
		"a/gen.go":       "//go:build ignore\n\npackage main\n",
		"a/x_test.go":    "package controllers_test\n",
		"a/y.go":         "// Package controllers is theirs.\npackage controllers\n",
		"b/only_test.go": "package tests_test\n",
		"c/broken.go":    "package",
		"cmd/main.go":    "package main\n",
	} {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755))
		must(t, os.WriteFile(filepath.Join(root, name), []byte(content), 0o644))
	}
	for dir, want := range map[string]string{"a": "controllers", "b": "tests", "c": "", "cmd": "", "none": ""} {
		if got := p.PackageName(dir); got != want {
			t.Errorf("the package in %s is %q, want %q", dir, got, want)
		}
	}
	const doc = "// Package controller holds reconcilers.\npackage controller\n\nconst a = \"package controller\"\n"
	for name, want := range map[string]string{
		"a/new.go":      "// Package controllers holds reconcilers.\npackage controllers\n\nconst a = \"package controller\"\n",
		"a/new.txt":     doc,
		"none/new.go":   doc,
		"cmd/helper.go": doc,
	} {
		must(t, p.Create(name, []byte(doc)))
		f, err := p.Find(name)
		must(t, err)
		if string(f.After()) != want {
			t.Errorf("%s is\n%s", name, f.After())
		}
	}
	must(t, p.Create("a/new_test.go", []byte("package controller_test\n")))
	if f, err := p.Find("a/new_test.go"); err != nil || string(f.After()) != "package controllers_test\n" {
		t.Errorf("the test is %v, %v", f, err)
	}
}
