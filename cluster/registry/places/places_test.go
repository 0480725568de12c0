package places_test

import (
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/cluster/registry/places"
)

func TestOf(t *testing.T) {
	const registry = "127.0.0.1:5001"
	digest := "@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	for _, c := range []struct {
		ref, loaded, own string
		pushed           bool
	}{
		{"controller", "127.0.0.1:5001/index.docker.io/library/controller:latest", "index.docker.io/library/controller:latest", false},
		{"docker.io/team/op:v1", "127.0.0.1:5001/index.docker.io/team/op:v1", "index.docker.io/team/op:v1", false},
		{"quay.example.com:8443/op:v1", "127.0.0.1:5001/quay.example.com_8443/op:v1", "quay.example.com:8443/op:v1", false},
		{"quay.example.com/op" + digest, "127.0.0.1:5001/quay.example.com/op" + digest, "quay.example.com/op" + digest, false},
		{"localhost:5001/op:v1", "127.0.0.1:5001/localhost_5001/op:v1", "localhost:5001/op:v1", true},
		{"127.0.0.1:5001/op:v1", "127.0.0.1:5001/127.0.0.1_5001/op:v1", "127.0.0.1:5001/op:v1", true},
		{"localhost:5001/s:v1", "127.0.0.1:5001/localhost_5001/s:v1", "localhost:5001/s:v1", true}, // one letter is a name
		{"localhost:5002/op:v1", "127.0.0.1:5001/localhost_5002/op:v1", "localhost:5002/op:v1", false},
	} {
		got, err := places.Of(c.ref, registry)
		if err != nil {
			t.Errorf("%s: %v", c.ref, err)
			continue
		}
		if got.Loaded.Name() != c.loaded || got.Own.Name() != c.own || got.Pushed != c.pushed {
			t.Errorf("%s: got %s, %s, %t", c.ref, got.Loaded, got.Own, got.Pushed)
		}
	}
	if got, err := places.Of("op", ""); err != nil || got.Loaded != nil || got.Pushed {
		t.Errorf("without a registry: %v, %v", got, err)
	}
	if _, err := places.Of("no image", registry); err == nil {
		t.Error("no image: no error")
	}
}

// TestMirrored: a mirror is asked for the repositories of its registry, and for no others.
func TestMirrored(t *testing.T) {
	mirrors := map[string]string{"index.docker.io": "mirror/hub", "quay.io:8443": "[::1]:5000"}
	digest := "@sha256:" + strings.Repeat("0", 64)
	for ref, want := range map[string]string{
		"busybox":             "mirror/hub/library/busybox:latest",
		"team/app" + digest:   "mirror/hub/team/app" + digest,
		"quay.io:8443/app:v1": "[::1]:5000/app:v1",
		"quay.io/app:v1":      "quay.io/app:v1",
	} {
		found, err := places.Of(ref, "")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := places.Mirrored(found.Own, mirrors); err != nil || got.Name() != want {
			t.Errorf("%s is asked for as %v (%v), want %s", ref, got, err, want)
		}
	}
	found, err := places.Of("busybox", "")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := places.Mirrored(found.Own, map[string]string{"index.docker.io": "no host"}); err == nil {
		t.Errorf("no mirror: %s", got)
	}
}
