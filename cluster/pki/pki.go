// Package pki makes the keys and certificates of one cluster.
//
// Everything is ECDSA P-256, so that all of it takes a few milliseconds (one RSA
// key alone can take hundreds), and every file is readable by its owner only. A
// cluster that keeps its data keeps its keys too: tokens and kubeconfigs given out
// earlier stay valid.
//
//	files, err := pki.Ensure(dir, "demo")
package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// Files are the paths of what a cluster needs.
type Files struct {
	CA                string // the certificate of the authority that signs all others
	CAKey             string
	Server, ServerKey string // the API server's certificate, for loopback and the service names
	Admin, AdminKey   string // a client certificate in the group system:masters
	ServiceAccountKey string // signs service account tokens
}

// validity is how long certificates last; a local cluster never renews them.
const validity = 10 * 365 * 24 * time.Hour

// serviceIP is the first address of the service range, which the Service
// default/kubernetes always gets.
var serviceIP = net.IPv4(10, 0, 0, 1)

// In names the files in dir without looking at them.
func In(dir string) Files {
	at := func(name string) string { return filepath.Join(dir, name) }
	return Files{
		CA: at("ca.crt"), CAKey: at("ca.key"),
		Server: at("apiserver.crt"), ServerKey: at("apiserver.key"),
		Admin: at("admin.crt"), AdminKey: at("admin.key"),
		ServiceAccountKey: at("service-account.key"),
	}
}

// Ensure makes dir (0700) and the files in it for the cluster called name, unless
// a complete set is there already.
func Ensure(dir, name string) (Files, error) {
	files := In(dir)
	// The service account key is written last: with it the set is complete.
	switch _, err := os.Stat(files.ServiceAccountKey); {
	case err == nil:
		return files, nil
	case !errors.Is(err, fs.ErrNotExist):
		return Files{}, fmt.Errorf("look for keys: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return Files{}, fmt.Errorf("make the key folder: %w", err)
	}
	if err := create(files, name); err != nil {
		return Files{}, fmt.Errorf("make keys and certificates: %w", err)
	}
	return files, nil
}

func create(files Files, name string) error {
	ca, err := newAuthority("slipway:" + name)
	if err != nil {
		return err
	}
	if err := errors.Join(writeCertificate(files.CA, ca.der), writeKey(files.CAKey, ca.key)); err != nil {
		return err
	}
	if err := ca.issue(files.Server, files.ServerKey, serverTemplate()); err != nil {
		return err
	}
	if err := ca.issue(files.Admin, files.AdminKey, adminTemplate()); err != nil {
		return err
	}
	key, err := newKey()
	if err != nil {
		return err
	}
	return writeKey(files.ServiceAccountKey, key)
}

func serverTemplate() *x509.Certificate {
	return &x509.Certificate{
		Subject:     pkix.Name{CommonName: "kube-apiserver"},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback, serviceIP},
		DNSNames: []string{
			"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local",
		},
	}
}

func adminTemplate() *x509.Certificate {
	return &x509.Certificate{
		Subject:     pkix.Name{CommonName: "kubernetes-admin", Organization: []string{"system:masters"}},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
}

// An authority signs the certificates of one cluster.
type authority struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
	der  []byte
}

func newAuthority(name string) (*authority, error) {
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: name},
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	if err := complete(template); err != nil {
		return nil, err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &authority{key: key, cert: cert, der: der}, nil
}

// issue writes a new key and a certificate for it.
func (a *authority) issue(certFile, keyFile string, template *x509.Certificate) error {
	key, der, err := a.sign(template)
	if err != nil {
		return err
	}
	return errors.Join(writeCertificate(certFile, der), writeKey(keyFile, key))
}

// complete sets what every certificate has. The start lies in the past for the
// sake of clocks that disagree, as between a host and a virtual machine.
func complete(template *x509.Certificate) error {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return err
	}
	template.SerialNumber = serial
	template.NotBefore = time.Now().Add(-time.Hour)
	template.NotAfter = template.NotBefore.Add(validity)
	return nil
}

func newKey() (*ecdsa.PrivateKey, error) {
	return ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
}

func writeCertificate(path string, der []byte) error {
	return writePEM(path, "CERTIFICATE", der)
}

func writeKey(path string, key *ecdsa.PrivateKey) error {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	return writePEM(path, "EC PRIVATE KEY", der)
}

func writePEM(path, kind string, der []byte) error {
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}
