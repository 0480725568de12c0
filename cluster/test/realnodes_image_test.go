package test

import (
	"archive/tar"
	"bytes"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// podProgram is the static program of the image, built once.
var podProgram = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "pod-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "pod")
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", path, "./testdata/pod")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// podImage is an image with one program, which runs as user 65532.
func podImage(t testing.TB) v1.Image {
	t.Helper()
	program, err := podProgram()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range []struct {
		name string
		mode int64
		data []byte
	}{
		{"etc/passwd", 0o644, []byte("root:x:0:0::/:/\nnonroot:x:65532:65532::/home:/\n")},
		{"etc/group", 0o644, []byte("root:x:0:\nnonroot:x:65532:\nextra:x:1234:nonroot\n")},
		{"tmp/", 0o1777, nil},
		{"pod", 0o755, program},
	} {
		h := &tar.Header{Name: f.name, Mode: f.mode, Size: int64(len(f.data)), Typeflag: tar.TypeReg}
		if strings.HasSuffix(f.name, "/") {
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(f.data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil }, tarball.WithCompressionLevel(1))
	if err != nil {
		t.Fatal(err)
	}
	image, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		t.Fatal(err)
	}
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = "linux", runtime.GOARCH
	config.Config = v1.Config{User: "65532:65532", Entrypoint: []string{"/pod"}, Env: []string{"PATH=/", "FROM_IMAGE=yes"}, WorkingDir: "/work"}
	if image, err = mutate.ConfigFile(image, config); err != nil {
		t.Fatal(err)
	}
	return image
}

// publish serves the image from a registry of its own and returns its name.
func publish(t testing.TB) string {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	ref := strings.TrimPrefix(server.URL, "http://") + "/test/pod:v1"
	at, err := name.ParseReference(ref)
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(at, podImage(t)); err != nil {
		t.Fatal(err)
	}
	return ref
}
