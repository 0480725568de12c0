// Package serving prepares a place for a webhook server on this machine: a port that
// stays reserved, and a certificate of an authority made for it.
package serving

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// Host is the address that webhooks are served on.
const Host = "127.0.0.1"

// The names of the files in a [Place]'s folder, those that controller-runtime looks for.
const (
	certFile = "tls.crt"
	keyFile  = "tls.key"
)

// Place is where a webhook server can be started.
type Place struct {
	Port int
	Dir  string // holds tls.crt and tls.key
	CA   []byte // the certificate, in PEM, that clients trust

	reservation net.PacketConn
}

// New makes a place whose files are in dir. Close ends it.
func New(dir string) (*Place, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	ca, cert, key, err := issue()
	if err != nil {
		return nil, err
	}
	err = errors.Join(os.WriteFile(filepath.Join(dir, certFile), cert, 0o600), os.WriteFile(filepath.Join(dir, keyFile), key, 0o600))
	if err != nil {
		return nil, err
	}
	port, reservation, err := reserve()
	if err != nil {
		return nil, err
	}
	return &Place{Port: port, Dir: dir, CA: ca, reservation: reservation}, nil
}

// Address is the host and the port.
func (p *Place) Address() string { return net.JoinHostPort(Host, strconv.Itoa(p.Port)) }

// Close gives the port back and removes the folder.
func (p *Place) Close() error { return errors.Join(p.reservation.Close(), os.RemoveAll(p.Dir)) }

// lifetime is how long certificates are valid: longer than any test.
const lifetime = 30 * 24 * time.Hour

// issue makes an authority and a certificate for this machine's own names.
func issue() (ca, cert, key []byte, err error) {
	authority := template("clustertest webhook CA", 1)
	authority.IsCA, authority.BasicConstraintsValid = true, true
	authority.KeyUsage = x509.KeyUsageCertSign
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, nil, err
	}
	caDER, err := x509.CreateCertificate(rand.Reader, authority, authority, caKey.Public(), caKey)
	if err != nil {
		return nil, nil, nil, err
	}
	cert, key, err = serverCert(authority, caKey)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: caDER}), cert, key, err
}

// serverCert makes the server's certificate and key.
func serverCert(authority *x509.Certificate, caKey *ecdsa.PrivateKey) (cert, key []byte, err error) {
	server := template("clustertest webhook", 2)
	server.DNSNames = []string{"localhost"}
	server.IPAddresses = []net.IP{net.ParseIP(Host), net.IPv6loopback}
	server.KeyUsage = x509.KeyUsageDigitalSignature
	server.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	der, err := x509.CreateCertificate(rand.Reader, server, authority, private.Public(), caKey)
	if err != nil {
		return nil, nil, err
	}
	keyDER, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		return nil, nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER}), nil
}

func template(name string, serial int64) *x509.Certificate {
	now := time.Now()
	return &x509.Certificate{SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: name},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(lifetime)}
}
