package rootfs_test

import (
	"crypto/x509"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/image/rootfs"
)

func TestFiles(t *testing.T) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	goroot := strings.TrimSpace(string(out))
	files, err := rootfs.Files(goroot)
	if err != nil {
		t.Fatal(err)
	}
	byPath := map[string]rootfs.File{}
	for _, f := range files {
		if _, twice := byPath[f.Path]; twice {
			t.Errorf("%s occurs twice", f.Path)
		}
		if dir := f.Path[:max(strings.LastIndex(f.Path, "/"), 0)]; dir != "" && !byPath[dir].Mode.IsDir() {
			t.Errorf("%s comes before its folder", f.Path)
		}
		byPath[f.Path] = f
	}
	if !x509.NewCertPool().AppendCertsFromPEM(byPath["etc/ssl/certs/ca-certificates.crt"].Data) {
		t.Error("no certificates")
	}
	for _, path := range []string{"etc/passwd", "usr/share/zoneinfo/Europe/Berlin", "tmp"} {
		if _, ok := byPath[path]; !ok {
			t.Errorf("no %s", path)
		}
	}
	again, err := rootfs.Files(goroot)
	if err != nil || rootfs.Digest(again) != rootfs.Digest(files) {
		t.Error("other files when asked again", err)
	}
}

func TestUser(t *testing.T) {
	for text, want := range map[string]string{
		"root": "0:0", "nonroot": "65532:65532", "nonroot:nonroot": "65532:65532", "1001": "1001", "1001:0": "1001:0", "0:nonroot": "0:65532",
		"app": "", "1001:app": "", "": "", "-1": "", ":": "", "1001:": "",
	} {
		if got, known := rootfs.User(text); known != (want != "") || known && got != want {
			t.Errorf("user %q: %q, %v; want %q", text, got, known, want)
		}
	}
}

// TestZonesWithoutTheirFile: a Go without it, as distributions have, makes the same files; one without any database is
// refused.
func TestZonesWithoutTheirFile(t *testing.T) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	whole := strings.TrimSpace(string(out))
	want, err := rootfs.Files(whole)
	if err != nil {
		t.Fatal(err)
	}
	cut := t.TempDir()
	const source = "src/time/tzdata/zzipdata.go"
	if err := os.MkdirAll(filepath.Dir(filepath.Join(cut, source)), 0o755); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(whole, source))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(cut, source), text, 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := rootfs.Files(cut)
	if err != nil || rootfs.Digest(got) != rootfs.Digest(want) {
		t.Errorf("%d files, want %d; %v", len(got), len(want), err)
	}
	if _, err := rootfs.Files(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without any: %v", err)
	}
}
