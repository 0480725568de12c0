package image_test

import (
	"archive/tar"
	"bytes"
	"context"
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

	"github.com/slipway-dev/slipway/internal/image"
	"github.com/slipway-dev/slipway/internal/image/pack"
	"github.com/slipway-dev/slipway/internal/image/rootfs"
	"github.com/slipway-dev/slipway/internal/image/store"
	"github.com/slipway-dev/slipway/internal/report"
)

// of are the images in the cache folder dir, and the events that their handler gets.
func of(dir string) (*image.Images, *[]report.Event) {
	events := new([]report.Event)
	return image.New(func(key string) string {
		if key == "SLIPWAY_CACHE" {
			return dir
		}
		return ""
	}, report.HandlerFunc(func(e report.Event) { *events = append(*events, e) })), events
}

// must is what succeeds.
func must[T any](t *testing.T) func(T, error) T {
	return func(result T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
}

// made is an image for a platform, with a file of its own, and a document about it.
func made(t *testing.T, architecture string) (img, about v1.Image) {
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

// kept is a cache folder with the image op:v1 for one platform, and example.com/two:v2 for two.
func kept(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	s := storeIn(dir)
	amd, aboutAmd := made(t, "amd64")
	arm, aboutArm := made(t, "arm64")
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

// storeIn is where the images of a cache folder are.
func storeIn(dir string) store.Store { return store.Store{Dir: filepath.Join(dir, "images")} }

// registryHost is a real registry, in this process.
func registryHost(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

func TestListAndInspect(t *testing.T) {
	images, _ := of(kept(t))
	listed := must[[]image.Listed](t)(images.List(t.Context()))
	var got []string
	for _, l := range listed {
		got = append(got, l.Name+" "+strings.Join(l.Platforms, ",")+" "+l.Created)
	}
	slices.Sort(got)
	if diff := cmp.Diff([]string{"example.com/two:v2 linux/amd64,linux/arm64 1970-01-01T00:00:05Z", "op:v1 linux/amd64 1970-01-01T00:00:05Z"}, got); diff != "" {
		t.Error(diff)
	}
	one := must[image.Image](t)(images.Inspect(t.Context(), image.Inspect{Ref: "op:v1", SBOM: true}))
	p := one.Platforms[0]
	if p.User != "5" || !slices.Equal(p.Entrypoint, []string{"/manager"}) || len(p.Layers) != 1 || p.Layers[0].Made != "the test" || string(p.SBOM) != `{"of":"amd64"}` || one.Size != p.Size {
		t.Errorf("it is %+v", one)
	}
	two := must[image.Image](t)(images.Inspect(t.Context(), image.Inspect{Ref: "example.com/two:v2"}))
	if len(two.Platforms) != 2 || two.Platforms[1].SBOM != nil || two.Size <= two.Platforms[0].Size+two.Platforms[1].Size {
		t.Errorf("it is %+v", two)
	}
}

func TestPushAndLoad(t *testing.T) {
	dir, host := kept(t), registryHost(t)
	s := storeIn(dir)
	img, _ := made(t, "amd64")
	if err := s.Put(t.Context(), tag(t, host+"/op:v3"), store.Image{Image: img}); err != nil {
		t.Fatal(err)
	}
	images, _ := of(dir)
	pushed := must[image.Pushed](t)(images.Push(t.Context(), image.Push{Ref: host + "/op:v3"}))
	digest, err := img.Digest()
	if err != nil {
		t.Fatal(err)
	}
	if want := (image.Pushed{Name: host + "/op:v3", Digest: digest.String(), Image: host + "/op@" + digest.String()}); pushed != want {
		t.Errorf("got %+v, want %+v", pushed, want)
	}
	// A cluster's registry keeps the images of other registries below their names, and its own below theirs.
	for ref, want := range map[string]string{"op:v1": host + "/index.docker.io/library/op@", host + "/op:v3": host + "/op@"} {
		loaded := must[image.Loaded](t)(images.Load(t.Context(), image.Load{Ref: ref, Registry: host}))
		if len(loaded.Images) != 1 || !strings.HasPrefix(loaded.Images[0].Image, want) {
			t.Errorf("%s is at %+v, want %s", ref, loaded.Images, want)
		}
	}
}

// TestSave: an archive is docker's for one platform, and OCI's for several, and can be loaded again.
func TestSave(t *testing.T) {
	dir, host := kept(t), registryHost(t)
	for _, test := range []struct {
		ref, format, platform string
		want, has             string
	}{
		{"op:v1", "", "", image.Docker, "manifest.json"},
		{"op:v1", image.OCI, "", image.OCI, "index.json"},
		{"example.com/two:v2", "", "", image.OCI, "index.json"},
		{"example.com/two:v2", "", "linux/arm64", image.Docker, "manifest.json"},
	} {
		file := filepath.Join(t.TempDir(), "image.tar")
		images, _ := of(dir)
		saved := must[image.Saved](t)(images.Save(t.Context(), image.Save{Ref: test.ref, File: file, Format: test.format, Platform: test.platform}))
		if info, err := os.Stat(file); err != nil || info.Size() != saved.Size || saved.Format != test.want || !slices.Contains(names(t, file), test.has) {
			t.Errorf("%+v: got %+v, %v", test, saved, err)
		}
		others, _ := of(t.TempDir())
		loaded := must[image.Loaded](t)(others.Load(t.Context(), image.Load{File: file, Registry: host}))
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
	images, events := of(kept(t))
	if removed := must[[]string](t)(images.Remove(t.Context(), "none:v1", "op:v1")); !slices.Equal(removed, []string{"op:v1"}) {
		t.Errorf("removed are %q", removed)
	}
	if diff := cmp.Diff([]report.Event{report.Note{Text: "there is no image none:v1"}}, *events); diff != "" {
		t.Error(diff)
	}
	if listed := must[[]image.Listed](t)(images.List(t.Context())); len(listed) != 1 {
		t.Errorf("listed are %+v", listed)
	}
}

// TestBuild builds the image of the smallest program, and a second time of the same contents.
func TestBuild(t *testing.T) {
	module := t.TempDir()
	images, _ := of(t.TempDir())
	for name, text := range map[string]string{
		"go.mod":     "module example.com/small\n\ngo 1.24\n",
		"main.go":    "package main\n\nfunc main() {}\n",
		"Dockerfile": "FROM golang AS builder\nRUN go build -o manager .\nFROM scratch\nCOPY --from=builder /manager /bin/small\nUSER 7:7\nENTRYPOINT [\"/bin/small\"]\n",
	} {
		if err := os.WriteFile(filepath.Join(module, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	request := image.Build{Tag: "small:v1", Dir: module, Platforms: []string{"linux/amd64", "linux/amd64"}, Labels: map[string]string{"mine": "1"}}
	first := must[image.Image](t)(images.Build(t.Context(), request))
	if len(first.Platforms) != 1 || first.Unchanged {
		t.Fatalf("it is %+v", first)
	}
	p := first.Platforms[0]
	if p.Platform != "linux/amd64" || p.User != "7:7" || !slices.Equal(p.Entrypoint, []string{"/bin/small"}) || p.Labels["mine"] != "1" || p.Labels["org.opencontainers.image.title"] != "small" || len(p.Layers) != 2 {
		t.Errorf("it is %+v", p)
	}
	if again := must[image.Image](t)(images.Build(t.Context(), request)); again.Digest != first.Digest || !again.Unchanged {
		t.Errorf("a second time it is %s, unchanged %v, want %s", again.Digest, again.Unchanged, first.Digest)
	}
	if bill := must[image.Image](t)(images.Inspect(t.Context(), image.Inspect{Ref: "small:v1", SBOM: true})).Platforms[0].SBOM; !bytes.Contains(bill, []byte("example.com/small")) {
		t.Errorf("its bill of materials is %s", bill)
	}
}

// TestFailures: what cannot be done says why, and what to do.
func TestFailures(t *testing.T) {
	ctx, dir, empty := t.Context(), kept(t), t.TempDir()
	images, _ := of(dir)
	archive := filepath.Join(dir, "images", "layout")
	for _, test := range []struct {
		name, where string
		code        int
		err         error
	}{
		{"an unknown image", "none:v1", 1, failure(images.Inspect(ctx, image.Inspect{Ref: "none:v1"}))},
		{"a name that is none", "", 2, failure(images.Push(ctx, image.Push{Ref: "A B"}))},
		{"several platforms in docker's format", "--format", 2, failure(images.Save(ctx, image.Save{Ref: "example.com/two:v2", File: filepath.Join(dir, "x"), Format: image.Docker}))},
		{"a platform that does not exist", "example.com/two:v2", 2, failure(images.Save(ctx, image.Save{Ref: "example.com/two:v2", File: filepath.Join(dir, "x"), Platform: "linux/s390x"}))},
		{"an archive that is none", archive, 1, failure(images.Load(ctx, image.Load{File: archive, Registry: "localhost:1"}))},
		{"a folder without a module", empty, 7, failure(images.Build(ctx, image.Build{Tag: "op:v1", Dir: empty}))},
		{"a tag that is none", "", 2, failure(images.Build(ctx, image.Build{Tag: "A", Dir: empty}))},
	} {
		refusal, ok := errors.AsType[*report.Error](test.err)
		if !ok || refusal.Where != test.where || refusal.ExitCode() != test.code || refusal.What == "" {
			t.Errorf("%s: got %+v, want a refusal at %q with exit code %d", test.name, test.err, test.where, test.code)
		}
	}
}

// failure is the error of a call whose result does not matter.
func failure[T any](_ T, err error) error { return err }

// TestEnded: whatever a call fails with once its context is done, its error is that of the context.
func TestEnded(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	end()
	images, _ := of(kept(t))
	for name, err := range map[string]error{
		"pull":  failure(images.Pull(ctx, image.Pull{Ref: "127.0.0.1:1/op:v1"})),
		"push":  failure(images.Push(ctx, image.Push{Ref: "op:v1"})),
		"login": failure(images.Login(ctx, image.Login{Registry: "127.0.0.1:1", User: "u", Password: "p"})),
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// TestDamaged: an image whose contents are damaged is reported, and left out of the list.
func TestDamaged(t *testing.T) {
	dir := kept(t)
	for _, blob := range contents(t, dir) {
		if err := os.Truncate(blob, 0); err != nil {
			t.Fatal(err)
		}
	}
	images, events := of(dir)
	_, err := images.Inspect(t.Context(), image.Inspect{Ref: "op:v1"})
	if refusal, ok := errors.AsType[*report.Error](err); !ok || refusal.Next != "slipway image build -t op:v1" {
		t.Errorf("got %+v", err)
	}
	listed := must[[]image.Listed](t)(images.List(t.Context()))
	warned := slices.ContainsFunc(*events, func(e report.Event) bool {
		w, ok := e.(report.Warning)
		return ok && strings.Contains(w.Text, "damaged")
	})
	if len(listed) > 0 || !warned {
		t.Errorf("listed are %+v, the events %+v", listed, *events)
	}
}

// contents are the files of all that a cache folder's images consist of.
func contents(t *testing.T, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "images", "layout", "blobs", "sha256", "*"))
	if err != nil || len(found) == 0 {
		t.Fatal(found, err)
	}
	return found
}

// TestNames reads the names of kept images from the index alone.
func TestNames(t *testing.T) {
	dir := t.TempDir()
	images, _ := of(dir)
	if names := images.Names(); names != nil {
		t.Errorf("without images there are %v", names)
	}
	if err := os.Mkdir(filepath.Join(dir, "images"), 0o755); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string][]string{
		`{"manifests":[{"annotations":{"org.opencontainers.image.ref.name":"b"}},{"annotations":{"org.opencontainers.image.ref.name":"a"}},{},{"annotations":{"org.opencontainers.image.ref.name":"a"}}]}`: {"a", "b"},
		"damaged": nil,
	} {
		if err := os.WriteFile(filepath.Join(dir, "images", "index.json"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if names := images.Names(); !slices.Equal(names, want) {
			t.Errorf("%s: the names are %v, want %v", text, names, want)
		}
	}
}
