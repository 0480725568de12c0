//go:build unix

package program

import (
	"slices"
	"testing"
)

func TestKey(t *testing.T) {
	y := newYard(t)
	y.write("cluster/seed/seed.go", "package seed\n\nimport _ \"embed\"\n\n//go:embed seed.gz data\nvar seed string\n")
	y.write("cluster/seed/seed.gz", "1")
	y.write("cluster/seed/data/deep/file", "1")
	key := func() string {
		t.Helper()
		src, err := y.source(clusterProduct())
		if err != nil {
			t.Fatal(err)
		}
		k, err := src.key(clusterProduct())
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	for _, tc := range []struct {
		file    string
		changes bool
	}{
		{"cluster/go.mod.orig", false},
		{"cluster/README.md", false},
		{"cluster/seed/seed_test.go", false},
		{"cluster/seed/testdata/x.go", false},
		{"cluster/.git/x.go", false},
		{"cluster/nested/go.mod", false},
		{"cluster/nested/x.go", false},
		{"cluster/slipway-cluster", false},
		{"cluster/crdcheck/check.go", false},
		{"cluster/cmd/slipway-check/main.go", false},
		{"cluster/crdchecks/check.go", true},
		{"cluster/go.sum", true},
		{"cluster/seed/more.go", true},
		{"cluster/seed/seed.gz", true},
		{"cluster/seed/data/deep/file", true},
		{"cluster/seed/data/new", true},
	} {
		before := key()
		y.write(tc.file, "another content")
		if changed := key() != before; changed != tc.changes {
			t.Errorf("%s: key changed: %v", tc.file, changed)
		}
	}
}

func TestVersionKeys(t *testing.T) {
	var keys []string
	for _, v := range []string{"v1.0.0", "v1.0.1"} {
		k, err := source{version: v}.key(clusterProduct())
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, k)
	}
	if len(slices.Compact(keys)) != 2 {
		t.Error("two versions have one key")
	}
}
