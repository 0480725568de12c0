package serving

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"testing"
)

// TestPlaces: each has a port of its own that a server can take, with a certificate that its CA vouches for.
func TestPlaces(t *testing.T) {
	taken := map[int]bool{}
	for range 50 {
		p, err := New(filepath.Join(t.TempDir(), "place"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = p.Close() })
		if taken[p.Port] {
			t.Errorf("port %d was given twice", p.Port)
		}
		taken[p.Port] = true
		answer(t, p)
	}
}

// answer makes a connection to a server at p.
func answer(t *testing.T, p *Place) {
	t.Helper()
	cert, err := tls.LoadX509KeyPair(filepath.Join(p.Dir, certFile), filepath.Join(p.Dir, keyFile))
	if err != nil {
		t.Fatal(err)
	}
	l, err := tls.Listen("tcp", p.Address(), &tls.Config{Certificates: []tls.Certificate{cert}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		if conn, err := l.Accept(); err == nil {
			_ = conn.(*tls.Conn).Handshake()
			_ = conn.Close()
		}
	}()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(p.CA)
	conn, err := tls.Dial("tcp", p.Address(), &tls.Config{RootCAs: roots})
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
}

func TestCloseRemoves(t *testing.T) {
	p, err := New(filepath.Join(t.TempDir(), "place"))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(p.Dir); !os.IsNotExist(err) {
		t.Errorf("%s is left: %v", p.Dir, err)
	}
}
