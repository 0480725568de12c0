package transfer_test

import (
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/random"

	"github.com/slipway-dev/slipway/internal/image/store"
	"github.com/slipway-dev/slipway/internal/image/transfer"
)

// registryThat is a registry that answers the requests of a method by itself, and the name of an image there.
func registryThat(t *testing.T, method string, answers http.HandlerFunc) (*httptest.Server, name.Tag) {
	t.Helper()
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	images := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == method {
			answers(w, r)
			return
		}
		images.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	to, err := name.NewTag(strings.TrimPrefix(server.URL, "http://") + "/op:v1")
	if err != nil {
		t.Fatal(err)
	}
	return server, to
}

func randomImage(t *testing.T, size int64) store.Image {
	t.Helper()
	img, err := random.Image(size, 1)
	if err != nil {
		t.Fatal(err)
	}
	return store.Image{Image: img}
}

// TestProgress: the last report is that all is sent, and comes before the push returns.
func TestProgress(t *testing.T) {
	_, to := registryThat(t, "", nil)
	var done, total int64
	r := transfer.Registries{Progress: func(d, t int64) { done, total = d, t }}
	if _, err := r.Push(t.Context(), to, randomImage(t, 1<<20)); err != nil {
		t.Fatal(err)
	}
	if done < 1<<20 || done != total {
		t.Errorf("%d of %d bytes were reported", done, total)
	}
}

// TestRefusedEarly: a registry may refuse a layer before it has read it. The rest that is on its way then does not end
// the process, and is no progress.
func TestRefusedEarly(t *testing.T) {
	const size = 32 << 20
	var read atomic.Int64
	server, to := registryThat(t, http.MethodPatch, func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		w.WriteHeader(http.StatusForbidden)
		if err := errors.Join(control.EnableFullDuplex(), control.Flush()); err != nil {
			t.Error(err)
		}
		n, _ := io.Copy(io.Discard, r.Body) // until the client ends it
		read.Add(n)
	})
	var returned atomic.Bool
	r := transfer.Registries{Progress: func(int64, int64) {
		if returned.Load() {
			t.Error("progress after the push returned")
		}
	}}
	_, err := r.Push(t.Context(), to, randomImage(t, size))
	returned.Store(true)
	if err == nil || !strings.Contains(err.Error(), "403") {
		t.Errorf("got %v", err)
	}
	server.Close() // waits for what is on its way
	if n := read.Load(); n == 0 || n >= size {
		t.Errorf("the registry read %d bytes of %d", n, size)
	}
}

// TestNoDigest: a push that fails before it begins leaves nothing running, which would fail the bubble.
func TestNoDigest(t *testing.T) {
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	to, err := name.NewTag("127.0.0.1:1/op:v1")
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		if _, err := (transfer.Registries{}).Push(t.Context(), to, store.Image{Image: broken{}}); !errors.Is(err, errBroken) {
			t.Errorf("got %v", err)
		}
	})
}

// broken is an image without a digest.
type broken struct{ v1.Image }

var errBroken = errors.New("broken")

func (broken) Digest() (v1.Hash, error) { return v1.Hash{}, errBroken }
