package pki

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
)

// Pair is a certificate with its key, in PEM.
type Pair struct{ Certificate, Key []byte }

// ForNode makes the certificates of a node: the one by which it is known to the API server, with the rights of the node
// authorizer alone, and the one with which its kubelet serves. They are in no file.
func ForNode(files Files, name string, ip net.IP) (identity, serving Pair, err error) {
	ca, err := readAuthority(files)
	if err != nil {
		return Pair{}, Pair{}, fmt.Errorf("certificates of node %s: %w", name, err)
	}
	identity, err = ca.pair(&x509.Certificate{
		Subject:     pkix.Name{CommonName: "system:node:" + name, Organization: []string{"system:nodes"}},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	if err != nil {
		return Pair{}, Pair{}, fmt.Errorf("certificates of node %s: %w", name, err)
	}
	serving, err = ca.pair(&x509.Certificate{
		Subject:     pkix.Name{CommonName: "system:node:" + name, Organization: []string{"system:nodes"}},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    []string{name}, IPAddresses: []net.IP{ip},
	})
	if err != nil {
		return Pair{}, Pair{}, fmt.Errorf("certificates of node %s: %w", name, err)
	}
	return identity, serving, nil
}

var errNotPEM = errors.New("not a file in PEM")

// readAuthority reads the authority of a cluster that has its files.
func readAuthority(files Files) (*authority, error) {
	certificate, err := readPEM(files.CA)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(certificate)
	if err != nil {
		return nil, err
	}
	der, err := readPEM(files.CAKey)
	if err != nil {
		return nil, err
	}
	key, err := x509.ParseECPrivateKey(der)
	if err != nil {
		return nil, err
	}
	return &authority{key: key, cert: cert, der: certificate}, nil
}

func readPEM(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("%s: %w", path, errNotPEM)
	}
	return block.Bytes, nil
}

// pair makes a new key and a certificate for it.
func (a *authority) pair(template *x509.Certificate) (Pair, error) {
	key, der, err := a.sign(template)
	if err != nil {
		return Pair{}, err
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return Pair{}, err
	}
	return Pair{
		Certificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		Key:         pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER}),
	}, nil
}

// sign makes a new key and signs a certificate for it.
func (a *authority) sign(template *x509.Certificate) (*ecdsa.PrivateKey, []byte, error) {
	key, err := newKey()
	if err != nil {
		return nil, nil, err
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	if err := complete(template); err != nil {
		return nil, nil, err
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	return key, der, err
}
