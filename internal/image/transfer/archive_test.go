package transfer

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"github.com/slipway-dev/slipway/internal/image/store"
)

// archiveOf writes an archive of a layout with one more file.
func archiveOf(t *testing.T, h *tar.Header, data string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "archive.tar")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(f)
	const layout = `{"imageLayoutVersion":"1.0.0"}`
	err = errors.Join(w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "oci-layout", Size: int64(len(layout))}))
	if err == nil {
		_, err = w.Write([]byte(layout))
	}
	if err == nil {
		h.Size = int64(len(data))
		err = w.WriteHeader(h)
	}
	if err == nil {
		_, err = w.Write([]byte(data))
	}
	if err := errors.Join(err, w.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestHostileArchives(t *testing.T) {
	const name = "blobs/sha256/e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	contents := archiveOf(t, &tar.Header{Typeflag: tar.TypeReg, Name: name}, "other")
	if _, err := Open(t.Context(), contents, t.TempDir()); !errors.Is(err, errDigest) {
		t.Error("contents of another digest:", err)
	}
	// One hole of a terabyte; the library reads such headers and does not write them.
	raw := archiveOf(t, &tar.Header{Typeflag: tar.TypeReg, Name: name, Format: tar.FormatPAX, PAXRecords: map[string]string{
		"ABC.sparse.major": "1", "ABC.sparse.minor": "0", "ABC.sparse.realsize": "1099511627776",
	}}, "0\n"+strings.Repeat("\x00", 510))
	data, err := os.ReadFile(raw)
	if err != nil {
		t.Fatal(err)
	}
	holes := filepath.Join(t.TempDir(), "holes.tar")
	if err := os.WriteFile(holes, bytes.ReplaceAll(data, []byte("ABC.sparse"), []byte("GNU.sparse")), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), holes, t.TempDir()); !errors.Is(err, errHoles) {
		t.Error("an archive of holes:", err)
	}
	escaping := archiveOf(t, &tar.Header{Typeflag: tar.TypeReg, Name: "../../out"}, "x")
	if _, err := Open(t.Context(), escaping, t.TempDir()); err == nil || strings.Contains(err.Error(), "no archive") {
		t.Error("a file outside of the folder:", err)
	}
}

// TestOnlyFilesAreReplaced: /dev/null would be a file afterwards, for whoever may write there.
func TestOnlyFilesAreReplaced(t *testing.T) {
	img, err := random.Image(1<<10, 2)
	if err != nil {
		t.Fatal(err)
	}
	tag := name.MustParseReference("op:v1").(name.Tag)
	dir := t.TempDir()
	socket, file, link := filepath.Join(dir, "socket"), filepath.Join(dir, "op.tar"), filepath.Join(dir, "link.tar")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	for _, path := range []string{dir, socket} {
		if err := SaveDocker(t.Context(), path, tag, img); !errors.Is(err, errNoFile) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Symlink(file, link), SaveDocker(t.Context(), link, tag, img)); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode().IsRegular() {
		t.Errorf("the link is %v, %v", info, err)
	}
	if info, err := os.Lstat(file); err != nil || info.Size() == 0 {
		t.Errorf("the file is %v, %v", info, err)
	}
}

// TestInterrupted: nothing is left of an archive that nobody waits for any more.
func TestInterrupted(t *testing.T) {
	img, err := random.Image(1<<10, 2)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := t.TempDir()
	if err := SaveDocker(ctx, filepath.Join(dir, "op.tar"), name.MustParseReference("op:v1").(name.Tag), img); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); len(left) > 0 {
		t.Error("left over:", left, err)
	}
}

// TestNameForContainerd: containerd takes the name in an archive as it is.
func TestNameForContainerd(t *testing.T) {
	for text, want := range map[string]string{"op:v1": "docker.io/library/op:v1", "quay.io/op:v1": "quay.io/op:v1", "localhost:5001/op": "localhost:5001/op:latest"} {
		tag, err := name.NewTag(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := canonical(tag); got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
}

func TestCompressedArchive(t *testing.T) {
	img, err := random.Image(1<<10, 2)
	if err != nil {
		t.Fatal(err)
	}
	tag := name.MustParseReference("op:v1").(name.Tag)
	plain := filepath.Join(t.TempDir(), "op.tar")
	for what, save := range map[string]error{
		"docker": SaveDocker(t.Context(), plain+"docker", tag, img),
		"oci":    SaveOCI(t.Context(), plain+"oci", tag, store.Image{Image: img}, t.TempDir()),
	} {
		data, err := os.ReadFile(plain + what)
		if err := errors.Join(save, err); err != nil {
			t.Fatal(err)
		}
		f, err := os.Create(plain + what + ".gz")
		if err != nil {
			t.Fatal(err)
		}
		z := gzip.NewWriter(f)
		if _, err := z.Write(data); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(z.Close(), f.Close()); err != nil {
			t.Fatal(err)
		}
		all, err := Open(t.Context(), f.Name(), t.TempDir())
		if err != nil || len(all) != 1 {
			t.Fatalf("%s: %d images, %v", what, len(all), err)
		}
		if err := validate.Image(all[0].Image.Image); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}
