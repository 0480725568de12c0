package pki_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/slipway-dev/slipway/cluster/pki"
)

// TestNodesAreNodesAlone: a node is known by its name in the group of nodes, serves at its address, and can use neither
// certificate for the other's purpose.
func TestNodesAreNodesAlone(t *testing.T) {
	files, err := pki.Ensure(t.TempDir(), "demo")
	if err != nil {
		t.Fatal(err)
	}
	ca, err := os.ReadFile(files.CA)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	identity, serving, err := pki.ForNode(files, "real-1", net.IPv4(10, 127, 0, 1))
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		pair      pki.Pair
		usage, no x509.ExtKeyUsage
		host      string
	}{
		"identity": {identity, x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth, ""},
		"serving":  {serving, x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth, "10.127.0.1"},
	} {
		pair, err := tls.X509KeyPair(tt.pair.Certificate, tt.pair.Key)
		if err != nil {
			t.Fatal(err)
		}
		verify := func(usage x509.ExtKeyUsage, host string) error {
			_, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: host, KeyUsages: []x509.ExtKeyUsage{usage}})
			return err
		}
		if err := verify(tt.usage, tt.host); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if verify(tt.no, tt.host) == nil || verify(tt.usage, "10.127.0.2") == nil || pair.Leaf.IsCA {
			t.Errorf("%s can be used for something else", name)
		}
		if s := pair.Leaf.Subject; s.CommonName != "system:node:real-1" || !slices.Equal(s.Organization, []string{"system:nodes"}) {
			t.Errorf("%s: %v", name, s)
		}
	}
}

// TestNodesNeedTheAuthority: what is missing or broken is told by its file.
func TestNodesNeedTheAuthority(t *testing.T) {
	for name, tt := range map[string]struct {
		damage func(pki.Files) error
		is     error
	}{
		"no certificate":       {func(f pki.Files) error { return os.Remove(f.CA) }, fs.ErrNotExist},
		"no key":               {func(f pki.Files) error { return os.Remove(f.CAKey) }, fs.ErrNotExist},
		"a text":               {func(f pki.Files) error { return os.WriteFile(f.CA, []byte("text"), 0o600) }, nil},
		"a key of another use": {func(f pki.Files) error { return os.Rename(f.CA, f.CAKey) }, nil},
		"keys in place of it":  {func(f pki.Files) error { return copyFile(f.CAKey, f.CA) }, nil},
	} {
		files, err := pki.Ensure(t.TempDir(), "demo")
		if err != nil {
			t.Fatal(err)
		}
		if err := tt.damage(files); err != nil {
			t.Fatal(err)
		}
		if _, _, err := pki.ForNode(files, "real-1", nil); err == nil || tt.is != nil && !errors.Is(err, tt.is) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func copyFile(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o600)
}

// TestKeysThatCannotBeMade: the folder or a file in the way is told.
func TestKeysThatCannotBeMade(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := pki.Ensure(file, "demo"); err == nil {
		t.Error("keys are in a file")
	}
	if err := os.Mkdir(pki.In(dir).Server, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := pki.Ensure(dir, "demo"); err == nil {
		t.Error("a certificate is a folder")
	}
	if _, err := os.Stat(pki.In(dir).ServiceAccountKey); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the set counts as complete: %v", err)
	}
}
