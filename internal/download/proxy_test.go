package download

import (
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/slipway-dev/slipway/internal/release"
	"github.com/slipway-dev/slipway/internal/report"
)

// behindProxy has the test's own program download through the user's proxy: a process reads its settings once.
const behindProxy = "SLIPWAY_TEST_DOWNLOAD_KEY"

// TestProxy: with HTTPS_PROXY a release's host is reached through it, and trusted by the certificates of the system.
func TestProxy(t *testing.T) {
	if key := os.Getenv(behindProxy); key != "" {
		s, err := Open(func(string) string { return "https://example.com/slipway" }, release.Stamp{PublicKey: key}, report.Discard)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Archive(t.Context(), version, "linux", "amd64", t.TempDir()); err != nil {
			t.Fatal(err)
		}
		return
	}
	if runtime.GOOS != "linux" {
		t.Skip("other systems do not let a variable name the certificates")
	}
	h := newHost(t)
	secure := httptest.NewTLSServer(http.StripPrefix("/slipway", http.HandlerFunc(h.answer)))
	t.Cleanup(secure.Close)
	var connected []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		connected = append(connected, r.Method+" "+r.Host)
		h.mu.Unlock()
		tunnel(w, secure.Listener.Addr().String())
	}))
	t.Cleanup(proxy.Close)
	certificates := filepath.Join(t.TempDir(), "certificates.pem")
	if err := os.WriteFile(certificates, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), own, "-test.run=^TestProxy$")
	child.Env = append(os.Environ(), behindProxy+"="+h.stamp.PublicKey, "HTTPS_PROXY="+proxy.URL, "NO_PROXY=", "SSL_CERT_FILE="+certificates)
	if out, err := child.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if len(connected) == 0 || connected[0] != "CONNECT example.com:443" {
		t.Errorf("the proxy was asked %q", connected)
	}
}

// tunnel connects a client with an address, as proxies do. The server may have read the client's first byte
// while it waited for the request's end: what it holds of the connection comes first.
func tunnel(w http.ResponseWriter, address string) {
	to, err := net.Dial("tcp", address)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer func() { _ = to.Close() }()
	from, held, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer func() { _ = from.Close() }()
	if _, err := io.WriteString(from, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	go func() { _, _ = io.Copy(to, held) }()
	_, _ = io.Copy(from, to)
}
