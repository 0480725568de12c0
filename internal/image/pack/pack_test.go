package pack_test

import (
	"archive/tar"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"github.com/slipway-dev/slipway/internal/image/pack"
	"github.com/slipway-dev/slipway/internal/image/rootfs"
)

var created = time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)

var files = []rootfs.File{
	{Path: "tmp", Mode: fs.ModeDir | fs.ModeSticky | 0o777},
	{Path: "home", Mode: fs.ModeDir | 0o700, UID: 5},
	{Path: "home/file", Mode: 0o640, UID: 5, Data: []byte("text")},
}

// entries are those of a layer's archive.
func entries(t *testing.T, layer v1.Layer) (all []tar.Header, texts map[string]string) {
	t.Helper()
	r, err := layer.Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	texts = map[string]string{}
	for archive := tar.NewReader(r); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return all, texts
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		if texts[h.Name] = string(text); !h.ModTime.Equal(created) {
			t.Errorf("%s was made at %v", h.Name, h.ModTime)
		}
		all = append(all, tar.Header{Typeflag: h.Typeflag, Name: h.Name, Mode: h.Mode, Uid: h.Uid, Gid: h.Gid})
	}
}

func digest(t *testing.T, of interface{ Digest() (v1.Hash, error) }) v1.Hash {
	t.Helper()
	d, err := of.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestLayer: a layer has its files with their modes and owners, in order, and the same input makes the same bytes.
func TestLayer(t *testing.T) {
	layer, err := pack.Layer(files, created, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Layer(layer); err != nil { // its digests and its size are right
		t.Error(err)
	}
	got, texts := entries(t, layer)
	want := []tar.Header{
		{Typeflag: tar.TypeDir, Name: "tmp/", Mode: 0o1777},
		{Typeflag: tar.TypeDir, Name: "home/", Mode: 0o700, Uid: 5, Gid: 5},
		{Typeflag: tar.TypeReg, Name: "home/file", Mode: 0o640, Uid: 5, Gid: 5},
	}
	if diff := cmp.Diff(want, got); diff != "" || texts["home/file"] != "text" {
		t.Errorf("%q: %s", texts, diff)
	}
	again, err := pack.Layer(files, created, t.TempDir())
	if err != nil || digest(t, again) != digest(t, layer) {
		t.Errorf("other bytes when made again: %v", err)
	}
}

func TestProgramLayer(t *testing.T) {
	temp := t.TempDir()
	program := filepath.Join(temp, "program")
	if err := os.WriteFile(program, []byte("binary"), 0o600); err != nil { // whatever mode it has here
		t.Fatal(err)
	}
	layer, err := pack.ProgramLayer(program, "bin/manager", created, temp)
	if err != nil {
		t.Fatal(err)
	}
	got, texts := entries(t, layer)
	if diff := cmp.Diff([]tar.Header{{Typeflag: tar.TypeReg, Name: "bin/manager", Mode: 0o755}}, got); diff != "" || texts["bin/manager"] != "binary" {
		t.Errorf("%q: %s", texts, diff)
	}
	if _, err := pack.ProgramLayer(filepath.Join(temp, "none"), "x", created, temp); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a program that does not exist gives %v", err)
	}
	if _, err := pack.Layer(files, created, filepath.Join(temp, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that does not exist gives %v", err)
	}
}

// TestFolder: a folder that nothing is copied to is in the layer, with its owner.
func TestFolder(t *testing.T) {
	layer, err := pack.CopiedLayer(nil, []pack.Copied{{To: "log", UID: 7, GID: 8}}, created, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	all, _ := entries(t, layer)
	if len(all) != 1 || all[0].Typeflag != tar.TypeDir || all[0].Name != "log/" || all[0].Mode != 0o755 || all[0].Uid != 7 || all[0].Gid != 8 {
		t.Errorf("got %+v", all)
	}
}

func spec() pack.Spec {
	return pack.Spec{
		Platform: v1.Platform{OS: "linux", Architecture: "arm", Variant: "v7"}, Created: created, User: "5:5", Entrypoint: []string{"/manager"},
		Env: []string{"A=2", "B=3"}, Labels: map[string]string{"mine": "2"},
	}
}

// image is one with a small layer on top of a base.
func image(t *testing.T, base v1.Image, s pack.Spec) v1.Image {
	t.Helper()
	layer, err := pack.Layer(files, created, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	img, err := pack.Image(base, s, pack.Part{Layer: layer, By: "the test"})
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// TestImage: an image says what the spec says, and is an OCI image.
func TestImage(t *testing.T) {
	img := image(t, pack.Scratch(), spec())
	if err := validate.Image(img); err != nil {
		t.Error(err)
	}
	file, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if got := file.Platform().String(); got != "linux/arm/v7" || !file.Created.Equal(created) {
		t.Errorf("it is for %s, made at %v", got, file.Created)
	}
	want := v1.Config{User: "5:5", Entrypoint: []string{"/manager"}, WorkingDir: "/", Env: []string{"A=2", "B=3"}, Labels: map[string]string{"mine": "2"}}
	if diff := cmp.Diff(want, file.Config); diff != "" {
		t.Error(diff)
	}
	if len(file.History) != 1 || file.History[0].CreatedBy != "the test" {
		t.Errorf("its history is %v", file.History)
	}
	if manifest, err := img.Manifest(); err != nil || manifest.MediaType != types.OCIManifestSchema1 || manifest.Config.MediaType != types.OCIConfigJSON || manifest.Layers[0].MediaType != types.OCILayer {
		t.Errorf("its manifest is %+v, %v", manifest, err)
	}
	if again := image(t, pack.Scratch(), spec()); digest(t, again) != digest(t, img) {
		t.Error("other bytes when made again")
	}
}

// TestBase: what a base says and the spec does not stays, and so does its format.
func TestBase(t *testing.T) {
	base, err := random.Image(64, 1)
	if err != nil {
		t.Fatal(err)
	}
	base, err = mutate.Config(base, v1.Config{Env: []string{"PATH=/bin", "A=1"}, Labels: map[string]string{"base": "1", "mine": "1"}, Cmd: []string{"sh"}})
	if err != nil {
		t.Fatal(err)
	}
	s := spec()
	s.Workdir = "/data"
	img := image(t, base, s)
	file, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	want := v1.Config{
		User: "5:5", Entrypoint: []string{"/manager"}, WorkingDir: "/data",
		Env: []string{"PATH=/bin", "A=2", "B=3"}, Labels: map[string]string{"base": "1", "mine": "2"}, // not the base's command
	}
	if diff := cmp.Diff(want, file.Config); diff != "" {
		t.Error(diff)
	}
	if manifest, err := img.Manifest(); err != nil || len(manifest.Layers) != 2 || manifest.Layers[1].MediaType != types.DockerLayer {
		t.Errorf("its manifest is %+v, %v", manifest, err)
	}
}

func TestIndex(t *testing.T) {
	arm := spec()
	arm.Platform = v1.Platform{OS: "linux", Architecture: "arm64"}
	index, err := pack.Index([]v1.Image{image(t, pack.Scratch(), spec()), image(t, pack.Scratch(), arm)})
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(index); err != nil {
		t.Error(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	var platforms []string
	for _, m := range manifest.Manifests {
		platforms = append(platforms, m.Platform.String())
	}
	if diff := cmp.Diff([]string{"linux/arm/v7", "linux/arm64"}, platforms); diff != "" || manifest.MediaType != types.OCIImageIndex {
		t.Errorf("%s: %s", manifest.MediaType, diff)
	}
}

// TestArtifact: a document names the image that it is about.
func TestArtifact(t *testing.T) {
	about, err := partial.Descriptor(image(t, pack.Scratch(), spec()))
	if err != nil {
		t.Fatal(err)
	}
	artifact, err := pack.Artifact([]byte("{}"), "application/x+json", *about)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := artifact.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	if manifest.Subject == nil || manifest.Subject.Digest != about.Digest || manifest.Config.MediaType != "application/x+json" || manifest.Layers[0].MediaType != "application/x+json" || manifest.Layers[0].Size != 2 {
		t.Errorf("its manifest is %+v", manifest)
	}
}
