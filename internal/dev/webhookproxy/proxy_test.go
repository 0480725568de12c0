package webhookproxy_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-dev/slipway/internal/dev/webhookproxy"
)

// pier is a proxy, a client of it, and what its managers serve with.
type pier struct {
	proxy       *webhookproxy.Proxy
	client      *http.Client
	certificate tls.Certificate
	waiting     chan string // the paths of calls that wait
}

func newPier(t *testing.T) *pier {
	t.Helper()
	dir := t.TempDir()
	authority, err := webhookproxy.WriteCertificate(dir)
	if err != nil {
		t.Fatal(err)
	}
	p := &pier{waiting: make(chan string, 10000)}
	if p.certificate, err = tls.LoadX509KeyPair(filepath.Join(dir, webhookproxy.CertificateFile), filepath.Join(dir, webhookproxy.KeyFile)); err != nil {
		t.Fatal(err)
	}
	p.proxy, err = webhookproxy.Listen(t.Context(), webhookproxy.Options{Address: "127.0.0.1:0", Certificate: p.certificate, Authority: authority,
		Waiting: func(path string) { p.waiting <- path }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.proxy.Close() })
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	p.client = &http.Client{Transport: transport}
	return p
}

// manager serves until stop is called, which waits for the calls that it answers, as a manager does.
func (p *pier) manager(t *testing.T, handler http.HandlerFunc) (address string, stop func()) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: handler, TLSConfig: &tls.Config{Certificates: []tls.Certificate{p.certificate}}}
	go func() { _ = server.ServeTLS(listener, "", "") }()
	stop = func() { _ = server.Shutdown(context.Background()) }
	t.Cleanup(stop)
	return listener.Addr().String(), stop
}

// call posts a body and returns the answer.
func (p *pier) call(path string, body io.Reader) (code int, text string, err error) {
	response, err := p.client.Post("https://"+p.proxy.Address()+path, "application/json", body)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	return response.StatusCode, string(answer), err
}

func echo(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) }

// TestWaits: calls wait for a manager, then for one that serves, and go to it.
func TestWaits(t *testing.T) {
	p := newPier(t)
	answers := make(chan string)
	go func() {
		code, text, err := p.call("/validate", strings.NewReader("hello"))
		answers <- fmt.Sprint(code, text, err)
	}()
	if path := <-p.waiting; path != "/validate" {
		t.Error(path)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p.proxy.Forward(free.Addr().String()) // which does not speak TLS, and ends
	free.Close()
	address, _ := p.manager(t, echo)
	p.proxy.Forward(address)
	if err := p.proxy.AwaitServing(t.Context()); err != nil {
		t.Error(err)
	}
	if got := <-answers; got != "200hello<nil>" {
		t.Error(got)
	}
}

// TestReason: a call that waited in vain learns why, in the form that the API server shows.
func TestReason(t *testing.T) {
	p := newPier(t)
	p.proxy.Hold("api/v1/job_types.go:12:3: undefined: x")
	code, text, err := p.call("/validate?timeout=100ms", strings.NewReader("hello"))
	var status metav1.Status
	if err != nil || code != http.StatusServiceUnavailable || json.Unmarshal([]byte(text), &status) != nil {
		t.Fatal(code, text, err)
	}
	if status.Kind != "Status" || !strings.HasSuffix(status.Message, "api/v1/job_types.go:12:3: undefined: x") {
		t.Errorf("%+v", status)
	}
}

// TestRefuse: while webhooks are to be unreachable a call is answered at once, and later ones as before.
func TestRefuse(t *testing.T) {
	p := newPier(t)
	address, _ := p.manager(t, echo)
	p.proxy.Refuse("the network is gone")
	if code, text, err := p.call("/validate?timeout=30s", strings.NewReader("hello")); code != http.StatusServiceUnavailable || !strings.Contains(text, "the network is gone") || err != nil {
		t.Error(code, text, err)
	}
	p.proxy.Forward(address)
	if code, text, err := p.call("/validate", strings.NewReader("hello")); code != http.StatusOK || text != "hello" || err != nil {
		t.Error(code, text, err)
	}
	if n := p.proxy.Refused(); n != 1 {
		t.Errorf("%d calls were refused", n)
	}
}

// TestRestarts: over many restarts every call is answered by a manager; each is held up while none serves.
func TestRestarts(t *testing.T) {
	const restarts, callers = 50, 4
	p := newPier(t)
	var ended atomic.Bool
	var calls, wrong atomic.Int64
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			for !ended.Load() {
				if code, text, err := p.call("/mutate?timeout=30s", strings.NewReader("hello")); err != nil || code != http.StatusOK || text != "hello" {
					wrong.Add(1)
					t.Error(code, text, err)
				}
				calls.Add(1)
			}
		})
	}
	for n := range restarts {
		address, stop := p.manager(t, echo)
		p.proxy.Forward(address)
		for before := calls.Load(); calls.Load() == before && wrong.Load() == 0; {
			_ = p.proxy.AwaitServing(t.Context())
		}
		if n == restarts-1 {
			ended.Store(true) // and the last one answers what comes
			all.Wait()
		}
		p.proxy.Hold("it restarts")
		stop()
	}
	if calls.Load() < restarts {
		t.Errorf("%d calls", calls.Load())
	}
}

// TestKilled: a call whose manager dies while it answers is made again.
func TestKilled(t *testing.T) {
	p := newPier(t)
	address, _ := p.manager(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "5")
		_, _ = w.Write([]byte("he"))
		panic(http.ErrAbortHandler)
	})
	p.proxy.Forward(address)
	go func() {
		<-p.waiting
		address, _ := p.manager(t, echo)
		p.proxy.Forward(address)
	}()
	if code, text, err := p.call("/mutate", strings.NewReader("hello")); err != nil || code != http.StatusOK || text != "hello" {
		t.Error(code, text, err)
	}
}

// TestLarge: what is too large to be kept passes, both ways.
func TestLarge(t *testing.T) {
	p := newPier(t)
	address, _ := p.manager(t, echo)
	p.proxy.Forward(address)
	if err := p.proxy.AwaitServing(t.Context()); err != nil {
		t.Fatal(err)
	}
	body := bytes.Repeat([]byte("0123456789"), 4<<20)
	code, text, err := p.call("/convert", bytes.NewReader(body))
	if err != nil || code != http.StatusOK || text != string(body) {
		t.Error(code, len(text), err)
	}
}
