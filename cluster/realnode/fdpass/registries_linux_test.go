package fdpass_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/slipway-dev/slipway/cluster/realnode/fdpass"
	"github.com/slipway-dev/slipway/cluster/realnode/wire"
)

// raw is a registry that answers each connection's first request by a function, and a client that may ask it.
func raw(t *testing.T, answer func(net.Conn)) (client *fdpass.Client, address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				answer(conn)
			}()
		}
	}()
	address = l.Addr().String()
	client, _ = pair(t, fdpass.Ways{Named: []string{address}})
	return client, address
}

// TestHostileAnswers: what a registry answers that no pull needs is an error, and none of a broken one is complete.
func TestHostileAnswers(t *testing.T) {
	for name, answer := range map[string]string{
		"header": "HTTP/1.1 200 OK\r\nA: " + strings.Repeat("x", 1<<20) + "\r\nContent-Length: 0\r\n\r\n",
		"low":    "HTTP/1.1 099 None\r\nContent-Length: 0\r\n\r\n",
		"high":   "HTTP/1.1 999 None\r\nContent-Length: 0\r\n\r\n",
		"switch": "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n",
		"broken": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\ntext\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			client, address := raw(t, func(c net.Conn) {
				_, _ = c.Read(make([]byte, 4<<10))
				_, _ = io.WriteString(c, answer)
			})
			got, text, err := ask(t, client, "GET", "http://"+address+"/v2/", "")
			if err == nil || name != "broken" && err.Error() == "EOF" {
				t.Errorf("%v, %q, %v", got, text, err)
			}
		})
	}
}

// TestBrokenConnections: a client of registries tries again where a connection to one has broken off, and not where it
// was refused.
func TestBrokenConnections(t *testing.T) {
	client, address := raw(t, func(c net.Conn) { _, _ = c.Read(make([]byte, 4<<10)) })
	if _, _, err := ask(t, client, "GET", "http://"+address+"/v2/", ""); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("broken off: %v", err)
	}
	if _, _, err := ask(t, client, "GET", "http://127.0.0.1:2/v2/", ""); err == nil || errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("refused: %v", err)
	}
}

// TestConnectionsAreBounded: a node that gives its requests up leaves no number of connections behind.
func TestConnectionsAreBounded(t *testing.T) {
	var open, most atomic.Int64
	accepted := make(chan struct{})
	client, address := raw(t, func(c net.Conn) { // without an end of the handshake of TLS
		now := open.Add(1)
		defer open.Add(-1)
		for before := most.Load(); now > before && !most.CompareAndSwap(before, now); before = most.Load() {
		}
		accepted <- struct{}{}
		_, _ = io.Copy(io.Discard, c)
	})
	transport := client.Transport("127.0.0.1:1")
	for range 400 {
		ctx, cancel := context.WithCancel(t.Context())
		request, err := http.NewRequestWithContext(ctx, "GET", "https://"+address+"/v2/", nil)
		if err != nil {
			t.Fatal(err)
		}
		failed := make(chan error)
		go func() {
			_, err := transport.RoundTrip(request)
			failed <- err
		}()
		select {
		case <-accepted:
			cancel()
			<-failed
		case err := <-failed:
			if err == nil || !strings.Contains(err.Error(), "connections to registries") {
				t.Errorf("%v", err)
			}
		}
		cancel()
	}
	if most.Load() > 256 {
		t.Errorf("%d connections at a time", most.Load())
	}
}

// TestHandedConnectionsAreBounded: a node that asks for connections and says nothing on them has no number of them
// wait, and what else it asks is answered.
func TestHandedConnectionsAreBounded(t *testing.T) {
	client, _ := pair(t, fdpass.Ways{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var group sync.WaitGroup
	var refused atomic.Int64
	for range 600 {
		group.Go(func() {
			conn, err := client.DialContext(ctx, wire.Registries, "")
			if err == nil {
				<-ctx.Done()
				_ = conn.Close()
			} else if ctx.Err() == nil && refused.Add(1) == 200 {
				cancel()
			}
		})
	}
	group.Wait()
}

// TestRequestsAreSentAgain: a registry may close a connection that was idle, and pulls go on.
func TestRequestsAreSentAgain(t *testing.T) {
	var asked atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if body, _ := io.ReadAll(r.Body); len(body) > 0 {
			t.Errorf("%s has a body", r.Method)
		}
		if asked.Add(1) == 2 {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				_ = conn.Close()
			}
			return
		}
		_, _ = io.WriteString(w, "here")
	}))
	defer s.Close()
	client, _ := pair(t, fdpass.Ways{Named: []string{s.Listener.Addr().String()}})
	for range 2 {
		if _, text, err := ask(t, client, "GET", s.URL+"/v2/", "a body"); err != nil || text != "here" {
			t.Errorf("%q, %v", text, err)
		}
	}
}

// TestLeadsAreKept: a registry that leads to thousands of places does not have another's forgotten.
func TestLeadsAreKept(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v2/layer":
			http.Redirect(w, r, "/layer", http.StatusTemporaryRedirect)
		case "/v2/many":
			var challenge strings.Builder
			for range 2000 {
				fmt.Fprintf(&challenge, "realm=%q,", rand.Text()[:8])
			}
			w.Header().Set("WWW-Authenticate", challenge.String())
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	defer s.Close()
	client, _ := pair(t, fdpass.Ways{Named: []string{s.Listener.Addr().String()}})
	for _, path := range []string{"/v2/layer", "/v2/many", "/v2/many", "/v2/many", "/v2/many", "/v2/many", "/v2/many", "/layer"} {
		if _, _, err := ask(t, client, "GET", s.URL+path, ""); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestCancelledPull: the registry is not asked any more when the node has given up.
func TestCancelledPull(t *testing.T) {
	ended := make(chan struct{})
	client, address := raw(t, func(c net.Conn) {
		_, _ = c.Read(make([]byte, 4<<10))
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"+strings.Repeat("x", 1<<16))
		_, _ = io.Copy(io.Discard, c)
		close(ended)
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, "GET", "http://"+address+"/v2/", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := client.Transport("127.0.0.1:1").RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	_ = answer.Body.Close()
	<-ended
}
