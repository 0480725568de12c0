package rootfs_test

import (
	"crypto/x509"
	"os/exec"
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
			t.Errorf("%s is there twice", f.Path)
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
