package kustomization

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/report"
)

// unpack writes a txtar archive into a temporary folder.
func unpack(t *testing.T, archive string) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range txtar.Parse([]byte(archive)).Files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestBuild(t *testing.T) {
	objects, err := Kustomization{Folder: unpack(t, `
-- kustomization.yaml --
namePrefix: op-
namespace: op-system
resources:
- deployment.yaml
-- deployment.yaml --
apiVersion: apps/v1
kind: Deployment
metadata:
  name: manager
spec:
  replicas: 2
`)}.Build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []*unstructured.Unstructured{{Object: map[string]any{
		"apiVersion": "apps/v1",
		"kind":       "Deployment",
		"metadata":   map[string]any{"name": "op-manager", "namespace": "op-system"},
		"spec":       map[string]any{"replicas": int64(2)},
	}}}
	if diff := cmp.Diff(want, objects); diff != "" {
		t.Errorf("objects differ (-want +got):\n%s", diff)
	}
	objects[0].DeepCopy() // panics where a number is not an int64
}

func TestBuildRefuses(t *testing.T) {
	for name, archive := range map[string]string{
		"nothing":           "",
		"a missing file":    "-- kustomization.yaml --\nresources: [gone.yaml]\n",
		"a misspelt key":    "-- kustomization.yaml --\nresorces: []\n",
		"an object unnamed": "-- kustomization.yaml --\nresources: [a.yaml]\n-- a.yaml --\napiVersion: v1\nkind: ConfigMap\n",
	} {
		t.Run(name, func(t *testing.T) {
			dir := unpack(t, archive)
			_, err := Kustomization{Folder: dir}.Build(t.Context())
			known, ok := errors.AsType[*report.Error](err)
			if !ok || !strings.HasPrefix(known.Where, dir) {
				t.Errorf("Build returned %v, want a report.Error about %s", err, dir)
			}
		})
	}
}

// over is a context that ends while nothing waits for it.
type over struct{ context.Context }

func (over) Err() error { return context.Canceled }

// TestBuildOver: a build that is done in the moment in which its context ends is no build of nothing.
func TestBuildOver(t *testing.T) {
	dir := unpack(t, "-- kustomization.yaml --\nresources: [a.yaml]\n-- a.yaml --\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
	if objects, err := (Kustomization{Folder: dir}).Build(over{t.Context()}); !errors.Is(err, context.Canceled) {
		t.Errorf("built %v, %v", objects, err)
	}
}
