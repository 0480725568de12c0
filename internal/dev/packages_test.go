package dev_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/slipway-dev/slipway/internal/dev"
)

// TestTests: the files that go test compiles are those of the packages that its arguments name.
func TestTests(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":             "module example.com/op\n",
		"s1/a_test.go":       "package s1\n",
		"s2/a_test.go":       "package s2\n",
		"s2/in/a_test.go":    "package in\n",
		"s3/env.go":          "package s3\n",
		"s4/never_test.go":   "//go:build never\n\npackage s4\n",
		"s4/e2e_test.go":     "//go:build e2e\n\npackage s4\n",
		"s4/a_plan9_test.go": "package s4\n",
	} {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	files := []string{"s1/a_test.go", "s2/a_test.go", "s2/in/a_test.go", "s3/env.go", "s4/never_test.go", "s4/e2e_test.go", "s4/a_plan9_test.go"}
	all, tagged := []string{"s1/a_test.go", "s2/a_test.go", "s2/in/a_test.go", "s3/env.go"}, []string{"s3/env.go", "s4/e2e_test.go"}
	for _, test := range []struct {
		folder, goflags string
		args, want      []string
	}{
		{".", "", nil, all},
		{".", "", []string{"-count=1", "-run", "A"}, all},
		{".", "", []string{"./..."}, all},
		{".", "", []string{"all"}, all},
		{".", "", []string{"-C", "elsewhere", "./s1"}, all},
		{".", "", []string{"./s2"}, []string{"s2/a_test.go", "s3/env.go"}},
		{".", "", []string{"-v", "./s2/...", "-args", "./s1"}, []string{"s2/a_test.go", "s2/in/a_test.go", "s3/env.go"}},
		{".", "", []string{"./s1", "-timeout", "1m", "./s2/in/"}, []string{"s1/a_test.go", "s2/in/a_test.go", "s3/env.go"}},
		{".", "", []string{"example.com/op/.../in"}, []string{"s2/in/a_test.go", "s3/env.go"}},
		{".", "", []string{"s1/a_test.go"}, []string{"s1/a_test.go", "s3/env.go"}},
		{"s2", "", nil, []string{"s2/a_test.go", "s2/in/a_test.go", "s3/env.go"}},
		{"s2", "", []string{"."}, []string{"s2/a_test.go", "s3/env.go"}},
		{"s2", "", []string{"../s1"}, []string{"s1/a_test.go", "s3/env.go"}},
		{".", "", []string{"-tags=a,e2e", "./s4"}, tagged},
		{".", "-mod=mod -tags=e2e", []string{"./s4"}, tagged},
	} {
		tests := dev.Tests(filepath.Join(root, test.folder), root, test.args, func(name string) string {
			return map[string]string{"GOFLAGS": test.goflags}[name]
		})
		var got []string
		for _, name := range files {
			if tests.Has(filepath.Join(root, filepath.FromSlash(name))) {
				got = append(got, name)
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%q in %s: %q; want %q", test.args, test.folder, got, test.want)
		}
	}
}
