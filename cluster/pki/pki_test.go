package pki_test

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/slipway-dev/slipway/cluster/pki"
)

func TestCertificatesVerify(t *testing.T) {
	files, err := pki.Ensure(filepath.Join(t.TempDir(), "pki"), "demo")
	if err != nil {
		t.Fatal(err)
	}
	ca, err := os.ReadFile(files.CA)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(ca) {
		t.Fatal("the authority's certificate cannot be read")
	}
	for _, tt := range []struct {
		cert, key, host string
		usage           x509.ExtKeyUsage
	}{
		{files.Server, files.ServerKey, "127.0.0.1", x509.ExtKeyUsageServerAuth},
		{files.Server, files.ServerKey, "kubernetes.default.svc", x509.ExtKeyUsageServerAuth},
		{files.Admin, files.AdminKey, "", x509.ExtKeyUsageClientAuth},
	} {
		pair, err := tls.LoadX509KeyPair(tt.cert, tt.key)
		if err != nil {
			t.Fatal(err)
		}
		options := x509.VerifyOptions{Roots: roots, DNSName: tt.host, KeyUsages: []x509.ExtKeyUsage{tt.usage}}
		if _, err := pair.Leaf.Verify(options); err != nil {
			t.Errorf("%s for %q: %v", filepath.Base(tt.cert), tt.host, err)
		}
	}
}

func TestKeysAreKept(t *testing.T) {
	dir := t.TempDir()
	files, err := pki.Ensure(dir, "demo")
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(files.ServiceAccountKey)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pki.Ensure(dir, "demo"); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(files.ServiceAccountKey)
	if err != nil {
		t.Fatal(err)
	}
	if string(before) != string(after) {
		t.Error("the second call made a new key")
	}
}

// A start that died half way leaves certificates without the last key.
func TestIncompleteSetIsMadeAnew(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(pki.In(dir).CA, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	files, err := pki.Ensure(dir, "demo")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tls.LoadX509KeyPair(files.CA, files.CAKey); err != nil {
		t.Error(err)
	}
}

func TestFilesAreForTheOwnerOnly(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no file modes")
	}
	dir := filepath.Join(t.TempDir(), "pki")
	if _, err := pki.Ensure(dir, "demo"); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %o", e.Name(), info.Mode().Perm())
		}
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("folder: %v, %v", info.Mode(), err)
	}
}
