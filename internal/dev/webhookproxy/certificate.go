package webhookproxy

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// CertificateFile and KeyFile are what controller-runtime calls them.
const CertificateFile, KeyFile = "tls.crt", "tls.key"

// WriteCertificate writes a certificate for this machine's loopback addresses and further hosts, IP addresses or names,
// into dir. It is its own authority, which is returned: who trusts it trusts that one key.
func WriteCertificate(dir string, further ...string) (authority []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	addresses, names := []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}, []string{"localhost"}
	for _, host := range further {
		if ip := net.ParseIP(host); ip == nil {
			names = append(names, host)
		} else if !ip.IsLoopback() && !ip.IsUnspecified() {
			addresses = append(addresses, ip)
		}
	}
	template := &x509.Certificate{
		SerialNumber:          serial,
		Subject:               pkix.Name{CommonName: "slipway"},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().AddDate(1, 0, 0),
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
		IsCA:                  true,
		DNSNames:              names,
		IPAddresses:           addresses,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	var certificate, secret bytes.Buffer
	err = errors.Join(
		pem.Encode(&certificate, &pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.Encode(&secret, &pem.Block{Type: "PRIVATE KEY", Bytes: private}),
		os.WriteFile(filepath.Join(dir, CertificateFile), certificate.Bytes(), 0o600),
		os.WriteFile(filepath.Join(dir, KeyFile), secret.Bytes(), 0o600),
	)
	return certificate.Bytes(), err
}
