package imagestore

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// serveRegistry starts a registry, which asks for an account if there is one, and returns its address.
func serveRegistry(t *testing.T, user, password string) string {
	t.Helper()
	next := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if u, p, _ := r.BasicAuth(); u != user || p != password {
			w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// TestMirror: nodes ask a mirror in place of the registry, without the registry's pull secrets, and keep the image
// under its own name.
func TestMirror(t *testing.T) {
	own, mirror, closed := serveRegistry(t, "", ""), serveRegistry(t, "", ""), serveRegistry(t, "sailor", "secret")
	at, err := name.ParseReference(mirror + "/hub/library/busybox:1")
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(at, imageOf(t, layer(t, entry{name: "which", text: "mirrored"}))); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.TempDir(), Options{Registry: own, Mirrors: map[string]string{"index.docker.io": mirror + "/hub", "ghcr.io": closed}})
	if err != nil {
		t.Fatal(err)
	}
	image, err := s.Pull(t.Context(), "busybox:1", &Credentials{User: "sailor", Password: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(filepath.Join(image.Root, "which")); string(got) != "mirrored" {
		t.Errorf("the image is %q", got)
	}
	if _, err := s.Get("docker.io/library/busybox:1"); err != nil {
		t.Errorf("it is not kept under its name: %v", err)
	}
	_, err = s.Pull(t.Context(), "ghcr.io/team/app:v1", &Credentials{User: "sailor", Password: "secret"})
	if err == nil || !strings.Contains(err.Error(), "slipway image login "+closed) {
		t.Errorf("a mirror that wants an account: %v", err)
	}
}

// TestAdvice: an image that is nowhere is answered with commands that do not fail for the same reason.
func TestAdvice(t *testing.T) {
	own, empty, closed := serveRegistry(t, "", ""), serveRegistry(t, "", ""), serveRegistry(t, "sailor", "secret")
	s, err := Open(t.TempDir(), Options{Registry: own})
	if err != nil {
		t.Fatal(err)
	}
	digest := "@sha256:" + strings.Repeat("0", 64)
	for what, c := range map[string]struct {
		ref       string
		has, lack []string
	}{
		"not there": {empty + "/op:v1", []string{"if it is your own: slipway image build -t " + empty + "/op:v1 && slipway image load " + empty + "/op:v1"},
			[]string{"image pull", "mirror"}},
		"not there by its digest": {empty + "/op" + digest, []string{"check the digest"}, []string{"slipway image"}},
		"not for everybody": {closed + "/op:v1", []string{"slipway image login " + closed, "slipway image pull " + closed + "/op:v1 && slipway image load"},
			[]string{"mirror"}},
		"no way there": {"registry.invalid/app:v1", []string{"slipway image pull registry.invalid/app:v1 && slipway image load registry.invalid/app:v1", "slipway image build -t",
			"slipway image pull --mirror registry.invalid=HOST registry.invalid/app:v1, or SLIPWAY_MIRROR=registry.invalid=HOST"}, nil},
		"nobody at this machine": {"127.0.0.1:1/app:v1", []string{"slipway image pull 127.0.0.1:1/app:v1"}, []string{"mirror"}},
	} {
		_, err := s.Pull(t.Context(), c.ref, nil)
		if err == nil {
			t.Errorf("%s: it was pulled", what)
			continue
		}
		if !strings.HasPrefix(err.Error(), c.ref+" is not loaded into the cluster, and ") {
			t.Errorf("%s: %v", what, err)
		}
		for _, part := range c.has {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: no %q in: %v", what, part, err)
			}
		}
		for _, part := range c.lack {
			if strings.Contains(err.Error(), part) {
				t.Errorf("%s: %q in: %v", what, part, err)
			}
		}
	}
}
