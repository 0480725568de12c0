package answer_test

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"

	"github.com/slipway-dev/slipway/internal/image/answer"
	"github.com/slipway-dev/slipway/internal/image/pack"
	"github.com/slipway-dev/slipway/internal/image/rootfs"
	"github.com/slipway-dev/slipway/internal/image/store"
	"github.com/slipway-dev/slipway/internal/image/wire"
)

// ask has the program answer a request, and returns its events and its exit code.
func ask(t *testing.T, r wire.Request) ([]wire.Event, int) {
	t.Helper()
	r.Protocol = wire.Protocol
	request, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return talk(t, string(request))
}

func talk(t *testing.T, request string) (events []wire.Event, code int) {
	t.Helper()
	var out bytes.Buffer
	code = answer.Main(t.Context(), func(string) string { return "" }, strings.NewReader(request), &out, io.Discard)
	for d := json.NewDecoder(&out); ; {
		var e wire.Event
		switch err := d.Decode(&e); {
		case errors.Is(err, io.EOF):
			return events, code
		case err != nil:
			t.Fatal(err)
		}
		events = append(events, e)
	}
}

// result is the answer of a request that must succeed.
func result[T any](t *testing.T, r wire.Request) T {
	t.Helper()
	events, code := ask(t, r)
	last := events[len(events)-1]
	if code != 0 || last.Failure != nil || events[0].Protocol != wire.Protocol {
		t.Fatalf("the answer is %+v, and the exit code %d", last.Failure, code)
	}
	var result T
	if err := json.Unmarshal(last.Result, &result); err != nil {
		t.Fatal(err)
	}
	return result
}

// image is one for a platform, with a file of its own, and a document about it.
func image(t *testing.T, architecture string) (img, about v1.Image) {
	t.Helper()
	layer, err := pack.Layer([]rootfs.File{{Path: "file", Mode: 0o644, Data: []byte(architecture)}}, time.Unix(5, 0), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	spec := pack.Spec{Platform: v1.Platform{OS: "linux", Architecture: architecture}, Created: time.Unix(5, 0), User: "5", Entrypoint: []string{"/manager"}}
	if img, err = pack.Image(pack.Scratch(), spec, pack.Part{Layer: layer, By: "the test"}); err != nil {
		t.Fatal(err)
	}
	descriptor, err := partial.Descriptor(img)
	if err != nil {
		t.Fatal(err)
	}
	if about, err = pack.Artifact([]byte(`{"of":"`+architecture+`"}`), "application/spdx+json", *descriptor); err != nil {
		t.Fatal(err)
	}
	return img, about
}

func tag(t *testing.T, text string) name.Tag {
	t.Helper()
	tag, err := name.NewTag(text)
	if err != nil {
		t.Fatal(err)
	}
	return tag
}

// images are a folder with the image op:v1 for one platform, and example.com/two:v2 for two.
func images(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	s := store.Store{Dir: dir}
	amd, aboutAmd := image(t, "amd64")
	arm, aboutArm := image(t, "arm64")
	index, err := pack.Index([]v1.Image{amd, arm})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(
		s.Put(t.Context(), tag(t, "op:v1"), store.Image{Image: amd, About: []v1.Image{aboutAmd}}),
		s.Put(t.Context(), tag(t, "example.com/two:v2"), store.Image{Index: index, About: []v1.Image{aboutAmd, aboutArm}}),
	); err != nil {
		t.Fatal(err)
	}
	return dir
}

// registryHost is a real registry, in this process.
func registryHost(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

func TestListAndInspect(t *testing.T) {
	dir := images(t)
	listed := result[[]wire.Listed](t, wire.Request{Store: dir, List: &wire.List{}})
	var got []string
	for _, l := range listed {
		got = append(got, l.Name+" "+strings.Join(l.Platforms, ",")+" "+l.Created)
	}
	slices.Sort(got)
	if diff := cmp.Diff([]string{"example.com/two:v2 linux/amd64,linux/arm64 1970-01-01T00:00:05Z", "op:v1 linux/amd64 1970-01-01T00:00:05Z"}, got); diff != "" {
		t.Error(diff)
	}
	one := result[wire.Image](t, wire.Request{Store: dir, Inspect: &wire.Inspect{Ref: "op:v1", SBOM: true}})
	p := one.Platforms[0]
	if p.User != "5" || !slices.Equal(p.Entrypoint, []string{"/manager"}) || len(p.Layers) != 1 || p.Layers[0].Made != "the test" || string(p.SBOM) != `{"of":"amd64"}` || one.Size != p.Size {
		t.Errorf("it is %+v", one)
	}
	two := result[wire.Image](t, wire.Request{Store: dir, Inspect: &wire.Inspect{Ref: "example.com/two:v2"}})
	if len(two.Platforms) != 2 || two.Platforms[1].SBOM != nil || two.Size <= two.Platforms[0].Size+two.Platforms[1].Size {
		t.Errorf("it is %+v", two)
	}
}

func TestPushAndLoad(t *testing.T) {
	dir, host := images(t), registryHost(t)
	s := store.Store{Dir: dir}
	img, _ := image(t, "amd64")
	if err := s.Put(t.Context(), tag(t, host+"/op:v3"), store.Image{Image: img}); err != nil {
		t.Fatal(err)
	}
	pushed := result[wire.Pushed](t, wire.Request{Store: dir, Push: &wire.Push{Ref: host + "/op:v3"}})
	digest, err := img.Digest()
	if err != nil {
		t.Fatal(err)
	}
	if want := (wire.Pushed{Name: host + "/op:v3", Digest: digest.String(), Image: host + "/op@" + digest.String()}); pushed != want {
		t.Errorf("got %+v, want %+v", pushed, want)
	}
	// A cluster's registry keeps the images of other registries below their names, and its own below theirs.
	for ref, want := range map[string]string{"op:v1": host + "/index.docker.io/library/op@", host + "/op:v3": host + "/op@"} {
		loaded := result[wire.Loaded](t, wire.Request{Store: dir, Load: &wire.Load{Ref: ref, Registry: host}})
		if len(loaded.Images) != 1 || !strings.HasPrefix(loaded.Images[0].Image, want) {
			t.Errorf("%s is at %+v, want %s", ref, loaded.Images, want)
		}
	}
}

// TestSave: an archive is docker's for one platform, and OCI's for several, and can be loaded again.
func TestSave(t *testing.T) {
	dir, host := images(t), registryHost(t)
	for _, test := range []struct {
		ref, format, platform string
		want, has             string
	}{
		{"op:v1", "", "", wire.Docker, "manifest.json"},
		{"op:v1", wire.OCI, "", wire.OCI, "index.json"},
		{"example.com/two:v2", "", "", wire.OCI, "index.json"},
		{"example.com/two:v2", "", "linux/arm64", wire.Docker, "manifest.json"},
	} {
		file := filepath.Join(t.TempDir(), "image.tar")
		saved := result[wire.Saved](t, wire.Request{Store: dir, Save: &wire.Save{Ref: test.ref, File: file, Format: test.format, Platform: test.platform}})
		if info, err := os.Stat(file); err != nil || info.Size() != saved.Size || saved.Format != test.want || !slices.Contains(names(t, file), test.has) {
			t.Errorf("%+v: got %+v, %v", test, saved, err)
		}
		loaded := result[wire.Loaded](t, wire.Request{Store: t.TempDir(), Load: &wire.Load{File: file, Registry: host}})
		if len(loaded.Images) != 1 || loaded.Images[0].Name != test.ref {
			t.Errorf("%+v: loaded are %+v", test, loaded.Images)
		}
	}
}

// names are those of an archive's files.
func names(t *testing.T, file string) (all []string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for archive := tar.NewReader(f); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, h.Name)
	}
}

// TestRemove: what does not exist is gone, too.
func TestRemove(t *testing.T) {
	dir := images(t)
	events, code := ask(t, wire.Request{Store: dir, Remove: &wire.Remove{Refs: []string{"none:v1", "op:v1"}}})
	if code != 0 || len(events) != 3 || events[1].Note == nil || string(events[2].Result) != `["op:v1"]` {
		t.Errorf("the events are %+v, and the exit code %d", events, code)
	}
	if listed := result[[]wire.Listed](t, wire.Request{Store: dir, List: &wire.List{}}); len(listed) != 1 {
		t.Errorf("listed are %+v", listed)
	}
}

// TestBuild builds the image of the smallest program, and a second time of the same contents.
func TestBuild(t *testing.T) {
	module, dir := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		"go.mod":     "module example.com/small\n\ngo 1.24\n",
		"main.go":    "package main\n\nfunc main() {}\n",
		"Dockerfile": "FROM golang AS builder\nRUN go build -o manager .\nFROM scratch\nCOPY --from=builder /manager /bin/small\nUSER 7:7\nENTRYPOINT [\"/bin/small\"]\n",
	} {
		if err := os.WriteFile(filepath.Join(module, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	request := wire.Request{Store: dir, Build: &wire.Build{Tag: "small:v1", Dir: module, Platforms: []string{"linux/amd64", "linux/amd64"}, Labels: map[string]string{"mine": "1"}}}
	first := result[wire.Image](t, request)
	if len(first.Platforms) != 1 || first.Unchanged {
		t.Fatalf("it is %+v", first)
	}
	p := first.Platforms[0]
	if p.Platform != "linux/amd64" || p.User != "7:7" || !slices.Equal(p.Entrypoint, []string{"/bin/small"}) || p.Labels["mine"] != "1" || p.Labels["org.opencontainers.image.title"] != "small" || len(p.Layers) != 2 {
		t.Errorf("it is %+v", p)
	}
	if again := result[wire.Image](t, request); again.Digest != first.Digest || !again.Unchanged {
		t.Errorf("a second time it is %s, unchanged %v, want %s", again.Digest, again.Unchanged, first.Digest)
	}
	if bill := result[wire.Image](t, wire.Request{Store: dir, Inspect: &wire.Inspect{Ref: "small:v1", SBOM: true}}).Platforms[0].SBOM; !bytes.Contains(bill, []byte("example.com/small")) {
		t.Errorf("its bill of materials is %s", bill)
	}
}

// TestFailures: a request that cannot be answered says why, and what to do.
func TestFailures(t *testing.T) {
	dir, empty := images(t), t.TempDir()
	for _, test := range []struct {
		name, where string
		code        int
		request     wire.Request
	}{
		{"nothing", "", 1, wire.Request{}},
		{"an unknown image", "none:v1", 1, wire.Request{Inspect: &wire.Inspect{Ref: "none:v1"}}},
		{"a name that is none", "", 2, wire.Request{Push: &wire.Push{Ref: "A B"}}},
		{"several platforms in docker's format", "--format", 2, wire.Request{Save: &wire.Save{Ref: "example.com/two:v2", File: filepath.Join(dir, "x"), Format: wire.Docker}}},
		{"a platform that does not exist", "example.com/two:v2", 2, wire.Request{Save: &wire.Save{Ref: "example.com/two:v2", File: filepath.Join(dir, "x"), Platform: "linux/s390x"}}},
		{"an archive that is none", filepath.Join(dir, "layout"), 1, wire.Request{Load: &wire.Load{File: filepath.Join(dir, "layout"), Registry: "localhost:1"}}},
		{"a folder without a module", empty, 2, wire.Request{Build: &wire.Build{Tag: "op:v1", Dir: empty}}},
		{"a tag that is none", "", 2, wire.Request{Build: &wire.Build{Tag: "A", Dir: empty}}},
	} {
		test.request.Store = dir
		events, code := ask(t, test.request)
		failure := events[len(events)-1].Failure
		if code != 1 || failure == nil || failure.Where != test.where || failure.Code != test.code || failure.What == "" {
			t.Errorf("%s: got %+v, exit code %d, want a failure at %q", test.name, failure, code, test.where)
		}
	}
}

// TestDamaged: an image whose contents are damaged is told, and left out of the list.
func TestDamaged(t *testing.T) {
	dir := images(t)
	blobs, err := filepath.Glob(filepath.Join(dir, "layout", "blobs", "sha256", "*"))
	if err != nil || len(blobs) == 0 {
		t.Fatal(blobs, err)
	}
	for _, blob := range blobs {
		if err := os.Truncate(blob, 0); err != nil {
			t.Fatal(err)
		}
	}
	events, _ := ask(t, wire.Request{Store: dir, Inspect: &wire.Inspect{Ref: "op:v1"}})
	if failure := events[len(events)-1].Failure; failure == nil || failure.Next != "slipway image build -t op:v1" {
		t.Errorf("got %+v", failure)
	}
	events, code := ask(t, wire.Request{Store: dir, List: &wire.List{}})
	warned := slices.ContainsFunc(events, func(e wire.Event) bool { return e.Warning != nil && strings.Contains(e.Warning.Text, "damaged") })
	if code != 0 || !warned || string(events[len(events)-1].Result) != "[]" {
		t.Errorf("the events are %+v, and the exit code %d", events, code)
	}
}

// TestOtherVersions: slipway of another version learns the protocol, and nothing is done.
func TestOtherVersions(t *testing.T) {
	if events, code := talk(t, `{"protocol":0,"list":{}}`); code != 2 || len(events) != 1 || events[0].Protocol != wire.Protocol {
		t.Errorf("the events are %+v, and the exit code %d", events, code)
	}
	if events, code := talk(t, "no request"); code != 2 || len(events) != 0 {
		t.Errorf("the events are %+v, and the exit code %d", events, code)
	}
}
