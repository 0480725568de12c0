package registry_test

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"github.com/slipway-dev/slipway/cluster/registry"
)

func start(t *testing.T, o registry.Options) *registry.Registry {
	t.Helper()
	r, err := registry.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

func ref(t *testing.T, r *registry.Registry, rest string) name.Reference {
	t.Helper()
	ref, err := name.ParseReference(r.Address() + "/" + rest)
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

func image(t *testing.T) v1.Image {
	t.Helper()
	img, err := random.Image(64<<10, 3)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

func push(t *testing.T, to name.Reference, img v1.Image) {
	t.Helper()
	if err := remote.Write(to, img); err != nil {
		t.Fatal(err)
	}
}

// pulled is whether the image is there, whole.
func pulled(t *testing.T, from name.Reference, want v1.Image) {
	t.Helper()
	got, err := remote.Image(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Image(got); err != nil {
		t.Error(err)
	}
	if g, w := digest(t, got), digest(t, want); g != w {
		t.Errorf("%s is %s, want %s", from, g, w)
	}
}

func digest(t *testing.T, m interface{ Digest() (v1.Hash, error) }) v1.Hash {
	t.Helper()
	h, err := m.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestPushedImagesArePulled(t *testing.T) {
	r := start(t, registry.Options{Dir: t.TempDir() + "/registry"})
	first, second := image(t), image(t)
	push(t, ref(t, r, "op:v1"), first)
	push(t, ref(t, r, "team/op:v1"), second)
	push(t, ref(t, r, "team/op:V1"), first)
	pulled(t, ref(t, r, "op:v1"), first)
	pulled(t, ref(t, r, "team/op:v1"), second)
	pulled(t, ref(t, r, "team/op:V1"), first)
	pulled(t, ref(t, r, "op@"+digest(t, first).String()), first)

	push(t, ref(t, r, "op:v1"), second)
	pulled(t, ref(t, r, "op:v1"), second)
	pulled(t, ref(t, r, "op@"+digest(t, first).String()), first)
}

func TestIndexesAndReferrers(t *testing.T) {
	r := start(t, registry.Options{Dir: t.TempDir() + "/registry"})
	index, err := random.Index(1<<10, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	to := ref(t, r, "op:v1")
	if err := remote.WriteIndex(to, index); err != nil {
		t.Fatal(err)
	}
	got, err := remote.Index(to)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(got); err != nil {
		t.Error(err)
	}

	subject, err := remote.Head(to)
	if err != nil {
		t.Fatal(err)
	}
	about := mutate.ConfigMediaType(mutate.MediaType(image(t), types.OCIManifestSchema1), "application/spdx+json")
	artifact, ok := mutate.Subject(about, *subject).(v1.Image)
	if !ok {
		t.Fatal("no image")
	}
	push(t, ref(t, r, "op@"+digest(t, artifact).String()), artifact)
	of, err := name.NewDigest(to.Context().String() + "@" + subject.Digest.String())
	if err != nil {
		t.Fatal(err)
	}
	for kind, want := range map[string]int{"application/spdx+json": 1, "application/other": 0} {
		list, err := remote.Referrers(of, remote.WithFilter("artifactType", kind))
		if err != nil {
			t.Fatal(err)
		}
		m, err := list.IndexManifest()
		if err != nil {
			t.Fatal(err)
		}
		if len(m.Manifests) != want {
			t.Errorf("%d referrers of kind %s, want %d", len(m.Manifests), kind, want)
		}
	}
}

func TestMount(t *testing.T) {
	r := start(t, registry.Options{Dir: t.TempDir() + "/registry"})
	there, absent := []byte("there"), []byte("absent")
	uploads := "http://" + r.Address() + "/v2/op/blobs/uploads/"
	if status, _ := request(t, "POST", uploads+"?digest="+sha(there), bytes.NewReader(there)); status != http.StatusCreated {
		t.Fatal("status", status)
	}
	if status, _ := request(t, "POST", uploads+"?from=other&mount="+sha(there), nil); status != http.StatusCreated {
		t.Error("what is there: status", status)
	}
	status, location := request(t, "POST", uploads+"?from=other&mount="+sha(absent), nil)
	if status != http.StatusAccepted {
		t.Fatal("what does not exist: status", status)
	}
	if status, _ := request(t, "PUT", "http://"+r.Address()+location+"?digest="+sha(absent), bytes.NewReader(absent)); status != http.StatusCreated {
		t.Error("uploaded then: status", status)
	}
	if status, _ := request(t, "POST", uploads+"?from=other&mount=sha256:no", nil); status != http.StatusBadRequest {
		t.Error("no digest: status", status)
	}
}

func TestLists(t *testing.T) {
	r := start(t, registry.Options{Dir: t.TempDir() + "/registry"})
	img := image(t)
	for _, to := range []string{"bb/op:v2", "bb/op:v1", "bb/op:Latest", "aa:x", "bb:x"} {
		push(t, ref(t, r, to), img)
	}
	tags, err := remote.List(ref(t, r, "bb/op:v1").Context())
	if want := []string{"Latest", "v1", "v2"}; err != nil || !slices.Equal(tags, want) {
		t.Errorf("tags are %q, %v; want %q", tags, err, want)
	}
	repos, err := remote.Catalog(t.Context(), ref(t, r, "aa").Context().Registry)
	if want := []string{"aa", "bb", "bb/op"}; err != nil || !slices.Equal(repos, want) {
		t.Errorf("repositories are %q, %v; want %q", repos, err, want)
	}
	if _, err := remote.List(ref(t, r, "cc").Context()); err == nil {
		t.Error("a repository that does not exist has tags")
	}
}

func TestDeleted(t *testing.T) {
	r := start(t, registry.Options{Dir: t.TempDir() + "/registry"})
	img := image(t)
	push(t, ref(t, r, "op:v1"), img)
	push(t, ref(t, r, "op:v2"), img)
	if err := remote.Delete(ref(t, r, "op:v1")); err != nil {
		t.Fatal(err)
	}
	pulled(t, ref(t, r, "op:v2"), img)
	if _, err := remote.Head(ref(t, r, "op:v1")); err == nil {
		t.Error("a deleted tag is there")
	}
	if err := remote.Delete(ref(t, r, "op@"+digest(t, img).String())); err != nil {
		t.Fatal(err)
	}
	if _, err := remote.Head(ref(t, r, "op:v2")); err == nil {
		t.Error("the tag of a deleted manifest is there")
	}
}

func TestDurableComesBack(t *testing.T) {
	o := registry.Options{Dir: t.TempDir() + "/registry", Durable: true}
	first := start(t, o)
	img := image(t)
	push(t, ref(t, first, "op:v1"), img)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second := start(t, o)
	pulled(t, ref(t, second, "op:v1"), img)
}

func TestThrowAwayBeginsEmpty(t *testing.T) {
	o := registry.Options{Dir: t.TempDir() + "/registry"}
	first := start(t, o)
	push(t, ref(t, first, "op:v1"), image(t))
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second := start(t, o)
	if _, err := remote.Head(ref(t, second, "op:v1")); err == nil {
		t.Error("an image of an earlier registry is there")
	}
}

func TestWishedPort(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	_, text, err := net.SplitHostPort(taken.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	r := start(t, registry.Options{Dir: t.TempDir() + "/registry", Port: port})
	if r.Address() == taken.Addr().String() {
		t.Error("two listen at", r.Address())
	}
	if err := taken.Close(); err != nil {
		t.Fatal(err)
	}
	r = start(t, registry.Options{Dir: t.TempDir() + "/registry", Port: port})
	if r.Address() != taken.Addr().String() {
		t.Errorf("it is at %s, though %s is free", r.Address(), taken.Addr())
	}
}

func TestRefusesOtherHosts(t *testing.T) {
	r := start(t, registry.Options{Dir: t.TempDir() + "/registry"})
	for host, want := range map[string]int{"": 200, "localhost:1": 200, "[::1]:80": 200, "evil.example.com": 403, "127.0.0.1.example.com": 403} {
		req, err := http.NewRequest(http.MethodGet, "http://"+r.Address()+"/v2/", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = host
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("a request for host %q: %d, want %d", host, resp.StatusCode, want)
		}
	}
}

func TestRefusesUnreasonable(t *testing.T) {
	r := start(t, registry.Options{Dir: t.TempDir() + "/registry"})
	const none = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	for _, c := range []struct {
		method, path, body string
		want               int
	}{
		{"PUT", "/v2/op/manifests/v1", strings.Repeat(" ", 5<<20), 413},
		{"PUT", "/v2/" + strings.Repeat("a", 256) + "/manifests/v1", `{"schemaVersion":2}`, 400},
		{"PUT", "/v2/op/manifests/v1", "no manifest", 400},
		{"PUT", "/v2/op/manifests/v1", `{"config":{"digest":"` + none + `"}}`, 404},
		{"PUT", "/v2/op/manifests/v1", `{"config":{"digest":"sha256:../../../etc/passwd"}}`, 404},
		{"POST", "/v2/op/blobs/uploads/?digest=" + none, "x", 400},
		{"GET", "/v2/op/blobs/" + none, "", 404},
		{"GET", "/v2/op/manifests/v1", "", 404},
		{"PATCH", "/v2/op/blobs/uploads/Li4vLi4vcG9ydA", "x", 404},
		{"DELETE", "/v2/op/manifests/v1", "", 404},
	} {
		req, err := http.NewRequest(c.method, "http://"+r.Address()+c.path, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != c.want {
			t.Errorf("%s %s: %d, %s, %v; want %d", c.method, c.path, resp.StatusCode, body, err, c.want)
		}
	}
}
