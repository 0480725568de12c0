package test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
)

// tlsServer is a program on this machine that the API server is to reach.
type tlsServer struct {
	server *httptest.Server
	name   string
	port   int32
	ca     []byte // PEM
}

// serveTLS serves on loopback under a certificate for that name alone.
func serveTLS(t *testing.T, name string, handler http.HandlerFunc) tlsServer {
	t.Helper()
	cert, ca := certificate(t, name)
	server := httptest.NewUnstartedServer(handler)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
	server.StartTLS()
	t.Cleanup(server.Close)
	port := server.Listener.Addr().(*net.TCPAddr).Port
	return tlsServer{server: server, name: name, port: int32(port), ca: ca}
}

// clientConfig is for a webhook by the Service hook in the namespace, or by URL without one.
func (s tlsServer) clientConfig(ns string) admissionregistrationv1.WebhookClientConfig {
	if ns != "" {
		return admissionregistrationv1.WebhookClientConfig{
			Service: &admissionregistrationv1.ServiceReference{Namespace: ns, Name: "hook"}, CABundle: s.ca,
		}
	}
	url := fmt.Sprintf("https://%s:%d", s.name, s.port)
	return admissionregistrationv1.WebhookClientConfig{URL: &url, CABundle: s.ca}
}

// certificate signs itself.
func certificate(t *testing.T, name string) (cert tls.Certificate, ca []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, BasicConstraintsValid: true, IsCA: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func encoded(data []byte) string { return base64.StdEncoding.EncodeToString(data) }
