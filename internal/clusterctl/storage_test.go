package clusterctl_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/slipway-dev/slipway/internal/clusterctl"
	"github.com/slipway-dev/slipway/internal/report"
)

// TestStorage: what is in the registry, on isolated and plain nodes and in volumes counts, links and other files do
// not.
func TestStorage(t *testing.T) {
	dir := t.TempDir()
	c := clusterctl.New(func(name string) string { return map[string]string{"SLIPWAY_STATE": dir}[name] }, report.Discard)
	measure := func(want clusterctl.Storage) {
		t.Helper()
		if got, err := c.Storage(t.Context(), ""); err != nil || *got != want {
			t.Errorf("%+v (%v), want %+v", *got, err, want)
		}
	}
	measure(clusterctl.Storage{})
	cluster := filepath.Join(dir, "clusters", clusterctl.DefaultName)
	for name, size := range map[string]int{
		"registry/blobs/sha256/a": 1, "registry/uploads/b": 2, "nodes/real-1/lib/slipway/images/i/root/bin/c": 4, "nodes/plain-1/images/i/root/d": 8,
		"nodes/.volumes/v/e/f": 16, "nodes/real-1/lib/kubelet/g": 32, "log": 64,
	} {
		path := filepath.Join(cluster, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(cluster, filepath.Join(cluster, "nodes/.volumes/v/link")); err != nil {
		t.Fatal(err)
	}
	want := clusterctl.Storage{Registry: 3, NodeImages: 12, Volumes: 16}
	measure(want)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if s, err := c.Storage(ended, ""); err == nil || !s.Incomplete {
		t.Errorf("after the end: %+v, %v", s, err)
	}
	if os.Geteuid() == 0 {
		return // who may read everything
	}
	closed := filepath.Join(cluster, "nodes/.volumes/w")
	if err := os.Mkdir(closed, 0); err != nil {
		t.Fatal(err)
	}
	want.Incomplete = true
	measure(want)
}
