package state_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/clusterctl/state"
)

// certificate is one of an authority of its own, with the names that every API server has.
func certificate(t *testing.T) *x509.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "kube-apiserver"}, NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"localhost", "kubernetes"}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	made, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// server has proved to have the key of a certificate.
type server struct{ certificate *x509.Certificate }

func (s server) Certificate(context.Context) (*x509.Certificate, error) { return s.certificate, nil }

// TestOwn: a cluster is slipway's own by the certificate of its API server alone, while its program is on this machine.
func TestOwn(t *testing.T) {
	home := state.Home{Dir: shortDir(t)}
	c := cluster(t, home.Dir)
	mine, theirs := certificate(t), certificate(t)
	own := func(want bool, what string, certificate *x509.Certificate) {
		t.Helper()
		found, ok, err := home.Own(t.Context(), server{certificate})
		if err != nil || ok != want || ok && found.Name != c.Name {
			t.Errorf("%s: %+v, %t, %v", what, found, ok, err)
		}
	}
	own(false, "a cluster without keys", mine)
	if err := os.WriteFile(filepath.Join(c.Dir, "run.json"), nil, 0o600); err != nil { // by which the folder is a cluster's
		t.Fatal(err)
	}
	keys := filepath.Join(c.Dir, "pki")
	if err := os.MkdirAll(keys, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(keys, "apiserver.crt"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: mine.Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	own(false, "one whose program is on another machine, or does not run", mine)
	socket, err := c.PrepareSocket()
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	own(true, "an own one", mine)
	own(false, "another one with the same names", theirs)
	own(false, "one without encryption", nil)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	own(false, "one that has ended", mine)
	if err := os.WriteFile(filepath.Join(keys, "apiserver.crt"), []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	own(false, "one with a damaged file", mine)
}
