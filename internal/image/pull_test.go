package answer_test

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/slipway-dev/slipway/internal/image/pack"
	"github.com/slipway-dev/slipway/internal/image/store"
	"github.com/slipway-dev/slipway/internal/image/wire"
)

// TestFailedPullLeavesNothing: layers that came before one that failed are removed, and what was kept before stays.
func TestFailedPullLeavesNothing(t *testing.T) {
	amd, _ := image(t, "riscv64")
	arm, _ := image(t, "s390x")
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
	contents := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, damaged.String()) {
			_, _ = io.WriteString(w, "something else")
			return
		}
		contents.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	host := strings.TrimPrefix(server.URL, "http://")
	from := store.Store{Dir: t.TempDir()}
	if err := from.Put(t.Context(), tag(t, host+"/op:v1"), store.Image{Index: index}); err != nil {
		t.Fatal(err)
	}
	pushed := result[wire.Pushed](t, wire.Request{Store: from.Dir, Push: &wire.Push{Ref: host + "/op:v1"}})

	dir := images(t)
	before := kept(t, dir)
	if events, code := ask(t, wire.Request{Store: dir, Pull: &wire.Pull{Ref: pushed.Image}}); code == 0 {
		t.Errorf("it was pulled: %+v", events)
	}
	if after := kept(t, dir); after != before {
		t.Errorf("the store has %d contents, and had %d before", after, before)
	}
}

// kept is how many contents a store has.
func kept(t *testing.T, dir string) int {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "layout", "blobs", "sha256", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return len(found)
}
