package image_test

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/slipway-dev/slipway/internal/image"
	"github.com/slipway-dev/slipway/internal/image/pack"
	"github.com/slipway-dev/slipway/internal/image/store"
)

// TestFailedPullLeavesNothing: layers that came before one that failed are removed, and what was kept before stays.
func TestFailedPullLeavesNothing(t *testing.T) {
	amd, _ := made(t, "riscv64")
	arm, _ := made(t, "s390x")
	index, err := pack.Index([]v1.Image{amd, arm})
	if err != nil {
		t.Fatal(err)
	}
	layers, err := arm.Layers()
	if err != nil {
		t.Fatal(err)
	}
	damaged, err := layers[0].Digest()
	if err != nil {
		t.Fatal(err)
	}
	real := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, damaged.String()) {
			_, _ = io.WriteString(w, "something else")
			return
		}
		real.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	host := strings.TrimPrefix(server.URL, "http://")
	others := t.TempDir()
	if err := storeIn(others).Put(t.Context(), tag(t, host+"/op:v1"), store.Image{Index: index}); err != nil {
		t.Fatal(err)
	}
	theirs, _ := of(others)
	pushed := must[image.Pushed](t)(theirs.Push(t.Context(), image.Push{Ref: host + "/op:v1"}))

	dir := kept(t)
	before := contents(t, dir)
	images, events := of(dir)
	if _, err := images.Pull(t.Context(), image.Pull{Ref: pushed.Image}); err == nil {
		t.Errorf("it was pulled: %+v", *events)
	}
	if after := contents(t, dir); !slices.Equal(after, before) {
		t.Errorf("the store has %d contents, and had %d before", len(after), len(before))
	}
}
