package kustomizefs

import (
	"context"
	"errors"
	"os"
	"testing"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/slipway-dev/slipway/internal/git"
)

// endless has kustomize 5.8.1 look for a place that it never makes.
var endless = map[string]string{
	"kustomization.yaml": `resources: [map.yaml]
replacements:
- source: {kind: ConfigMap, name: map, fieldPath: data.a}
  targets:
  - select: {kind: ConfigMap, name: map}
    fieldPaths: ["data.l.[=^X$]"]
    options: {create: true}
`,
	"map.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: map}\ndata: {a: b, l: [c]}\n",
}

// TestAwaitEndless: what kustomize never finishes ends with the context, and for its reason.
func TestAwaitEndless(t *testing.T) {
	disk := filesys.MakeFsInMemory()
	for name, text := range endless {
		if err := disk.WriteFile(name, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	reason := errors.New("enough")
	ctx, stop := context.WithCancelCause(t.Context())
	_, err := Await(ctx, Over(disk), func() (resmap.ResMap, error) {
		stop(reason)
		return krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(disk, ".")
	})
	if !errors.Is(err, reason) {
		t.Errorf("%v", err)
	}
}

// TestAwait: what ends by itself is returned.
func TestAwait(t *testing.T) {
	failed := errors.New("failed")
	if value, err := Await(t.Context(), Over(nil), func() (int, error) { return 3, failed }); value != 3 || !errors.Is(err, failed) {
		t.Errorf("%d, %v", value, err)
	}
}

// TestAwaitGuards: what git may fetch from is limited as long as work goes on, also when it is not waited for any more.
func TestAwaitGuards(t *testing.T) {
	t.Setenv(git.Protocols, "") // an endless work of another test leaves it set
	on, seen := make(chan struct{}), make(chan string)
	ctx, stop := context.WithCancel(t.Context())
	_, err := Await(ctx, Over(nil), func() (int, error) {
		stop()
		<-on
		seen <- os.Getenv(git.Protocols)
		return 0, nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	close(on)
	if got := <-seen; got != "none" {
		t.Errorf("git may fetch from %q", got)
	}
}
