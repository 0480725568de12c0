package container_test

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/image/transfer"
	"github.com/slipway-dev/slipway/release/internal/container"
	"github.com/slipway-dev/slipway/release/internal/goinstall"
)

// save writes an image for two processors.
func save(t *testing.T) (path string) {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "built")
	if err := os.WriteFile(program, []byte("program"), 0o600); err != nil {
		t.Fatal(err)
	}
	programs := []container.Program{{Name: "slipway", Path: program}, {Name: "slipway-check", Path: program}}
	goroot, err := goinstall.Goroot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(dir, "image.tar")
	err = container.Image{Version: "v0.1.0", Commit: "abc", Date: time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC), Goroot: goroot, Temp: dir,
		Platforms: []container.Platform{{Arch: "amd64", Programs: programs}, {Arch: "arm64", Programs: programs}}}.Save(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestSave: slipway reads the archive as it reads that of any image, and it has the same bytes each time.
func TestSave(t *testing.T) {
	path := save(t)
	images, err := transfer.Open(t.Context(), path, t.TempDir())
	if err != nil || len(images) != 1 || images[0].Name.String() != container.Repository+":v0.1.0" || images[0].Index == nil {
		t.Fatal(images, err)
	}
	index, err := images[0].Index.IndexManifest()
	if err != nil || len(index.Manifests) != 2 {
		t.Fatal(index, err)
	}
	for i, arch := range []string{"amd64", "arm64"} {
		img, err := images[0].Index.Image(index.Manifests[i].Digest)
		if err != nil {
			t.Fatal(err)
		}
		config, err := img.ConfigFile()
		if err != nil || config.Architecture != arch || config.Config.User != "65532:65532" || config.Config.Entrypoint[0] != "/usr/local/bin/slipway" {
			t.Errorf("%s: %+v, %v", arch, config, err)
		}
		if layers, err := img.Layers(); err != nil || len(layers) != 3 {
			t.Errorf("%s: %d layers, %v", arch, len(layers), err)
		}
	}
	one, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	two, err := os.ReadFile(save(t))
	if err != nil || !bytes.Equal(one, two) {
		t.Errorf("other bytes, or %v, on %s", err, runtime.GOOS)
	}
}
