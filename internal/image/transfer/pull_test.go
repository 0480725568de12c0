package transfer

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/slipway-dev/slipway/internal/image/reference"
	"github.com/slipway-dev/slipway/internal/image/store"
)

// hostile is a registry with one manifest and one content for all else.
func hostile(t *testing.T, manifest string, content []byte) name.Reference {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.Contains(r.URL.Path, "/manifests/"):
			w.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
			_, _ = io.WriteString(w, manifest)
		case strings.Contains(r.URL.Path, "/blobs/"):
			_, _ = w.Write(content)
		}
	}))
	t.Cleanup(server.Close)
	ref, err := reference.Parse(strings.TrimPrefix(server.URL, "http://") + "/team/app:v1")
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

func manifest(config string, configSize int64, layers ...int64) string {
	var parts []string
	for i, size := range layers {
		parts = append(parts, fmt.Sprintf(`{"mediaType":"application/vnd.oci.image.layer.v1.tar+gzip","digest":"sha256:%064d","size":%d}`, i+1, size))
	}
	return fmt.Sprintf(`{"schemaVersion":2,"config":{"mediaType":"application/vnd.oci.image.config.v1+json","digest":"%s","size":%d},"layers":[%s]}`,
		config, configSize, strings.Join(parts, ","))
}

// TestPullRefusesHostileImages: what a registry says and gives is held against digests and limits, before it is kept.
func TestPullRefusesHostileImages(t *testing.T) {
	config := []byte(`{"os":"linux","architecture":"amd64","rootfs":{"type":"layers","diff_ids":["sha256:` + strings.Repeat("2", 64) + `"]}}`)
	sum := sha256.Sum256(config)
	digest := "sha256:" + hex.EncodeToString(sum[:])
	platform := v1.Platform{OS: "linux", Architecture: "amd64"}
	large := map[string]bool{"a large configuration": true, "large layers": true, "sizes that overflow": true, "a negative size": true, "no size": true,
		"a manifest without end": true}
	for what, text := range map[string]string{
		"a large configuration":   manifest(digest, 1<<40),
		"large layers":            manifest(digest, int64(len(config)), 40<<30, 40<<30),
		"sizes that overflow":     manifest(digest, int64(len(config)), 1<<62, 1<<62, 1<<62),
		"a negative size":         manifest(digest, int64(len(config)), -1),
		"no size":                 manifest(digest, -1),
		"another configuration":   manifest("sha256:"+strings.Repeat("3", 64), int64(len(config))),
		"no manifest":             "[",
		"a manifest without end":  `{"schemaVersion":2,"x":"` + strings.Repeat("x", 64<<20),
		"a longer configuration":  manifest(digest, int64(len(config))-1),
		"a shorter configuration": manifest(digest, int64(len(config))+1),
	} {
		t.Run(what, func(t *testing.T) {
			if _, err := (Registries{}).Pull(t.Context(), hostile(t, text, config), platform); err == nil || errors.Is(err, errLarge) != large[what] {
				t.Errorf("it was pulled, or refused for another reason: %v", err)
			}
		})
	}
	t.Run("another layer", func(t *testing.T) {
		img, err := (Registries{}).Pull(t.Context(), hostile(t, manifest(digest, int64(len(config)), 5), config), platform)
		if err != nil {
			t.Fatal(err)
		}
		s := store.Store{Dir: t.TempDir()}
		if err := s.Fetch(store.Image{Image: img}); err == nil {
			t.Error("a layer with other contents was kept")
		}
	})
	t.Run("another digest", func(t *testing.T) {
		ref := hostile(t, manifest(digest, int64(len(config))), config)
		_, err := (Registries{}).PullDigest(t.Context(), ref.Context().Digest("sha256:"+strings.Repeat("4", 64)))
		if err == nil {
			t.Error("another image was pulled by its digest")
		}
	})
}
