package imagestore

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// entry is a file, a link (to is where to) or, with a slash at the end of its name, a folder.
type entry struct {
	name, text, to string
	hard           bool
	mode           int64
}

func layer(t *testing.T, entries ...entry) v1.Layer {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Mode: e.mode, Size: int64(len(e.text)), Typeflag: tar.TypeReg, Linkname: e.to}
		switch {
		case e.hard:
			h.Typeflag = tar.TypeLink
		case e.to != "":
			h.Typeflag = tar.TypeSymlink
		case strings.HasSuffix(e.name, "/"):
			h.Typeflag = tar.TypeDir
		}
		if h.Mode == 0 {
			h.Mode = 0o755
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, e.text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	l, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil })
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func imageOf(t *testing.T, layers ...v1.Layer) v1.Image {
	t.Helper()
	image, err := mutate.AppendLayers(empty.Image, layers...)
	if err != nil {
		t.Fatal(err)
	}
	return image
}

func TestUnpack(t *testing.T) {
	root := filepath.Join(t.TempDir(), "root")
	image := imageOf(t,
		layer(t, entry{name: "etc/"}, entry{name: "etc/old", text: "1"}, entry{name: "etc/gone", text: "1"}, entry{name: "closed/", mode: 0o555}, entry{name: "closed/file", text: "x"}),
		layer(t, entry{name: "etc/old", text: "2"}, entry{name: "etc/.wh.gone"}, entry{name: "link", to: "etc/old"}, entry{name: "twin", to: "etc/old", hard: true},
			entry{name: "tmp/", mode: 0o1777}, entry{name: "su", mode: 0o4755}),
	)
	if _, err := unpack(image, root, false); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"etc/old": "2", "link": "2", "twin": "2", "closed/file": "x"} {
		if got, err := os.ReadFile(filepath.Join(root, path)); err != nil || string(got) != want {
			t.Errorf("%s has %q (%v)", path, got, err)
		}
	}
	if _, err := os.Stat(filepath.Join(root, "etc/gone")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a file that a layer takes away is there")
	}
	for path, want := range map[string]fs.FileMode{"tmp": fs.ModeDir | fs.ModeSticky | 0o777, "su": fs.ModeSetuid | 0o755, "closed": fs.ModeDir | 0o555} {
		if info, err := os.Stat(filepath.Join(root, path)); err != nil || info.Mode() != want {
			t.Errorf("%s has the mode %s, want %s (%v)", path, info.Mode(), want, err)
		}
	}
}

// TestUnpackStaysInside: neither names nor links lead out of the image's folder.
func TestUnpackStaysInside(t *testing.T) {
	for what, entries := range map[string][]entry{
		"a name":        {{name: "../../escaped", text: "x"}},
		"a link":        {{name: "out", to: "../.."}, {name: "out/escaped", text: "x"}},
		"an absolute":   {{name: "out", to: "/tmp"}, {name: "out/slipway-escaped", text: "x"}},
		"a second name": {{name: "twin", to: "../../../etc/passwd", hard: true}},
	} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			_, _ = unpack(imageOf(t, layer(t, entries...)), filepath.Join(dir, "a", "root"), false) // refused or inside
			for _, path := range []string{filepath.Join(dir, "escaped"), filepath.Join(dir, "a", "escaped"), "/tmp/slipway-escaped"} {
				if _, err := os.Lstat(path); err == nil {
					t.Errorf("%s was written", path)
				}
			}
			if info, err := os.Lstat(filepath.Join(dir, "a", "root", "twin")); err == nil && info.Size() > 0 {
				t.Error("a file of the host is in the image")
			}
		})
	}
}

// TestPull: the cluster's registry is asked first, under the name of a loaded image; what is there stays over a restart
// of the node.
func TestPull(t *testing.T) {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	push := func(ref string, image v1.Image) {
		t.Helper()
		r, err := name.ParseReference(ref)
		if err != nil {
			t.Fatal(err)
		}
		if err := remote.Write(r, image); err != nil {
			t.Fatal(err)
		}
	}
	push(host+"/index.docker.io/library/app:v1", imageOf(t, layer(t, entry{name: "which", text: "loaded"})))
	push(host+"/own:v1", imageOf(t, layer(t, entry{name: "which", text: "own"})))
	dir := t.TempDir()
	s, err := Open(dir, Options{Registry: host})
	if err != nil {
		t.Fatal(err)
	}
	for ref, want := range map[string]string{"app:v1": "loaded", host + "/own:v1": "own"} {
		image, err := s.Pull(t.Context(), ref, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(filepath.Join(image.Root, "which")); string(got) != want {
			t.Errorf("%s is %q", ref, got)
		}
	}
	if _, err := s.Pull(t.Context(), host+"/none:v1", nil); err == nil || !strings.Contains(err.Error(), "slipway image load") {
		t.Errorf("an image that is nowhere: %v", err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "pull-123", "root"), 0o755); err != nil { // a node that was killed while it pulled
		t.Fatal(err)
	}
	if s, err = Open(dir, Options{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get("docker.io/library/app:v1"); err != nil || len(s.List()) != 2 {
		t.Errorf("after a restart there are %d images (%v)", len(s.List()), err)
	}
	if err := s.Remove("app:v1"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get("app:v1"); !errors.Is(err, ErrUnknown) {
		t.Errorf("a removed image: %v", err)
	}
	push(host+"/own:v1", imageOf(t, layer(t, entry{name: "which", text: "newer"})))
	s.options.Registry = host
	if _, err := s.Pull(t.Context(), host+"/own:v1", nil); err != nil {
		t.Fatal(err)
	}
	image, err := s.Get(host + "/own:v1")
	if got, _ := os.ReadFile(filepath.Join(image.Root, "which")); err != nil || string(got) != "newer" {
		t.Errorf("a name that leads to something else now is %q (%v)", got, err)
	}
}
