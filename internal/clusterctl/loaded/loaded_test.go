package loaded_test

import (
	"io"
	"log"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/slipway-dev/slipway/internal/clusterctl/loaded"
	"github.com/slipway-dev/slipway/internal/image/reference"
)

func TestDigests(t *testing.T) {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	_, port, _ := strings.Cut(host, ":")
	img, err := random.Image(1<<10, 1)
	if err != nil {
		t.Fatal(err)
	}
	index, err := random.Index(1<<10, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	one := digests(t, img)
	for at, image := range map[string]v1.Image{"index.docker.io/library/op:v1": img, "registry.example.com_8443/team/op:v1": img, "pushed:v1": img} {
		if err := remote.Write(parse(t, host+"/"+at), image); err != nil {
			t.Fatal(err)
		}
	}
	if err := remote.WriteIndex(parse(t, host+"/index.docker.io/library/many:latest"), index); err != nil {
		t.Fatal(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	many := digests(t, index)
	for _, m := range manifest.Manifests {
		many = append(many, m.Digest.String())
	}
	for image, want := range map[string][]string{
		"op:v1":                                  one,
		"docker.io/library/op:v1":                one,
		"registry.example.com:8443/team/op:v1":   one,
		host + "/pushed:v1":                      one,
		"localhost:" + port + "/pushed:v1":       one,
		"localhost:1/pushed:v1":                  nil,
		"many":                                   many,
		"op:v2":                                  nil,
		"op@" + one[0]:                           nil,
		"registry.example.com/index.docker.io/a": nil,
	} {
		if got, err := loaded.Digests(t.Context(), host, image); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s is %q (%v), want %q", image, got, err, want)
		}
	}
	for image, want := range map[string]bool{
		"op:v1": true, host + "/pushed:v1": true, "op:v2": false, "op@" + one[0]: true, "many@" + many[1]: true, "op@" + many[0]: false,
	} {
		if got, err := loaded.Has(t.Context(), host, image); err != nil || got != want {
			t.Errorf("has %s: %v (%v), want %v", image, got, err, want)
		}
	}
	for image, want := range map[string]string{
		"op:v1": "index.docker.io=" + host + "/index.docker.io", "registry.example.com:8443/team/op:v1": "registry.example.com:8443=" + host + "/registry.example.com_8443",
		host + "/pushed:v1": host + "=" + host, "op:v2": "",
	} {
		got, err := loaded.Mirror(t.Context(), host, image)
		if err != nil || got != want {
			t.Errorf("the mirror of %s is %q (%v), want %q", image, got, err, want)
		}
		mirrors, err := reference.ParseMirrors(got, "")
		if err != nil {
			t.Error(err)
		}
		if at, err := mirrors.Of(parse(t, image)); err != nil || want != "" && remoteDigest(t, at) != one[0] {
			t.Errorf("%s is pulled from %s (%v)", image, at, err)
		}
	}
	if _, err := loaded.Digests(t.Context(), host, "../op"); err == nil {
		t.Error("a name that is none is asked for")
	}
	server.Close()
	if _, err := loaded.Digests(t.Context(), host, "op:v1"); err == nil {
		t.Error("a registry that is gone has nothing")
	}
}

func parse(t *testing.T, text string) name.Reference {
	t.Helper()
	ref, err := name.ParseReference(text)
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

func remoteDigest(t *testing.T, ref name.Reference) string {
	t.Helper()
	d, err := remote.Head(ref)
	if err != nil {
		t.Fatal(err)
	}
	return d.Digest.String()
}

func digests(t *testing.T, of interface{ Digest() (v1.Hash, error) }) []string {
	t.Helper()
	d, err := of.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return []string{d.String()}
}
