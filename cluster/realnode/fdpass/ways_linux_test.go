package fdpass_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/slipway-dev/slipway/cluster/realnode/fdpass"
)

// addresses are this machine's by which others could reach it.
func addresses(t *testing.T) (all []string) {
	t.Helper()
	found, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range found {
		if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr().Is4() && !p.Addr().IsLoopback() {
			all = append(all, p.Addr().String())
		}
	}
	return all
}

// TestNodeHasNoOtherConnections: a node that asks for whatever it likes is connected to its cluster, by each name of
// loopback, and to nothing else.
func TestNodeHasNoOtherConnections(t *testing.T) {
	listener, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	path := filepath.Join(t.TempDir(), "socket")
	unixListener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer unixListener.Close()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	client, _ := pair(t, fdpass.Ways{Own: []string{"127.0.0.1:" + port}, Named: []string{"0.0.0.0:" + port}})
	for _, host := range []string{"127.0.0.1", "localhost", "[::1]"} {
		conn, err := client.DialContext(t.Context(), "tcp", host+":"+port)
		if err != nil {
			t.Errorf("%s: %v", host, err)
			continue
		}
		_ = conn.Close()
	}
	for _, address := range append(addresses(t), "0.0.0.0", "203.0.113.7", "example.com", "") {
		if _, err := client.DialContext(t.Context(), "tcp", address+":"+port); err == nil || !strings.Contains(err.Error(), fdpass.ErrNotOwn.Error()) {
			t.Errorf("%s: %v", address, err)
		}
	}
	for _, network := range []string{"unix", "unixpacket", "udp", "ip4:icmp", ""} {
		for _, address := range []string{path, "127.0.0.1:" + port} {
			if _, err := client.DialContext(t.Context(), network, address); err == nil || !strings.Contains(err.Error(), fdpass.ErrNotOwn.Error()) {
				t.Errorf("%q: %v", network, err)
			}
		}
	}
}

// ask makes a request by a node's transport.
func ask(t *testing.T, client *fdpass.Client, method, address, body string) (*http.Response, string, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer token")
	request.Header.Set("Cookie", "a=b")
	answer, err := client.Transport("127.0.0.1:1").RoundTrip(request)
	if err != nil {
		return nil, "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return answer, string(text), err
}

// TestNodeAsksPublicRegistriesAlone: what a name leads to counts, and neither this machine nor a private network is
// asked.
func TestNodeAsksPublicRegistriesAlone(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	client, _ := pair(t, fdpass.Ways{Own: []string{s.Listener.Addr().String()}, Named: []string{"localhost"}})
	hosts := append(addresses(t), "127.0.0.1", "127.0.0.2", "localhost", "0.0.0.0", "[::1]", "[::ffff:127.0.0.1]", "[::]",
		"169.254.169.254", "10.0.0.1", "192.168.1.1", "100.64.0.1", "[fe80::1%25lo]", "[fd00::1]", "[64:ff9b::7f00:1]")
	for _, host := range hosts {
		_, _, err := ask(t, client, "GET", "http://"+host+":"+port+"/v2/", "")
		if err == nil || !strings.Contains(err.Error(), fdpass.ErrNoWay.Error()) && !strings.Contains(err.Error(), "no such host") {
			t.Errorf("%s: %v", host, err)
		}
	}
}

// TestNodeHasNoWayBack: an address that this machine's routes lead to itself is none to go to, though it looks public.
func TestNodeHasNoWayBack(t *testing.T) {
	back := errors.New("the route leads back")
	var asked []string
	client, _ := pair(t, fdpass.Ways{Route: func(ip netip.Addr) error {
		asked = append(asked, ip.String())
		return back
	}})
	for _, address := range []string{"203.0.113.7:443", "168.63.129.16:80"} {
		if _, _, err := ask(t, client, "GET", "https://"+address+"/v2/", ""); err == nil || !strings.Contains(err.Error(), fdpass.ErrNoWay.Error()) {
			t.Errorf("%s: %v", address, err)
		}
	}
	if len(asked) != 1 || asked[0] != "203.0.113.7" {
		t.Errorf("asked for the routes to %v", asked)
	}
}

// TestNodeAsksNamedRegistries: the user names a registry with its port, or without for those that registries have.
func TestNodeAsksNamedRegistries(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "here") }))
	defer s.Close()
	address := s.Listener.Addr().String()
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	client, _ := pair(t, fdpass.Ways{Named: []string{"LOCALHOST:" + port, address, "[::1]:" + port}})
	for _, host := range []string{"127.0.0.1", "localhost"} {
		if _, text, err := ask(t, client, "GET", "http://"+host+":"+port+"/v2/", ""); err != nil || text != "here" {
			t.Errorf("%s: %q, %v", host, text, err)
		}
	}
	if _, _, err := ask(t, client, "GET", "http://[::1]:"+port+"/v2/", ""); err == nil || strings.Contains(err.Error(), fdpass.ErrNoWay.Error()) {
		t.Errorf("[::1]: %v", err) // nothing listens there, which a node may see that is let
	}
	client, _ = pair(t, fdpass.Ways{Named: []string{"localhost"}}) // its usual ports alone
	if _, _, err := ask(t, client, "GET", "https://localhost/v2/", ""); err == nil || strings.Contains(err.Error(), fdpass.ErrNoWay.Error()) || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a usual port: %v", err)
	}
}

// TestNodeAsksForImagesAlone: a node's requests are those of a pull, whatever it sends, and lead on where a registry
// has led it.
func TestNodeAsksForImagesAlone(t *testing.T) {
	var mu sync.Mutex
	var seen []string
	s := httptest.NewServer(nil)
	defer s.Close()
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		seen = append(seen, fmt.Sprintf("%s %s %s%s%s", r.Method, r.URL, r.Header.Get("Authorization"), r.Header.Get("Cookie"), body))
		mu.Unlock()
		switch r.URL.Path {
		case "/v2/":
			w.Header().Set("WWW-Authenticate", `Bearer realm="`+s.URL+`/token",service="x"`)
			w.Header().Set("Slipway-Refused", "a registry says so")
			w.WriteHeader(http.StatusUnauthorized)
		case "/v2/layer":
			http.Redirect(w, r, "/layers/1?signed", http.StatusTemporaryRedirect)
		}
	})
	client, _ := pair(t, fdpass.Ways{Named: []string{s.Listener.Addr().String()}})
	var want []string
	for _, test := range []struct {
		request string
		body    string
		fails   bool
	}{
		{"GET /token?a=b", "", true},
		{"POST /v2/", "data", true},
		{"PUT /v2/x/manifests/a", "data", true},
		{"GET /v2/../token", "", true},
		{"GET /v2/%2e%2e/token", "", true},
		{"GET /v2/", "", false},
		{"GET /token?a=b", "", false},
		{"POST /token", "grant", false},
		{"DELETE /token", "", true},
		{"GET /layers/1?signed", "", true},
		{"HEAD /v2/layer", "", false},
		{"GET /layers/1?signed", "", false},
		{"POST /token", strings.Repeat("x", 1<<20), true},
	} {
		method, path, _ := strings.Cut(test.request, " ")
		answer, _, err := ask(t, client, method, s.URL+path, test.body)
		if (err != nil) != test.fails || err != nil && strings.Contains(err.Error(), "a registry says so") {
			t.Errorf("%s: %v, %v", test.request, answer, err)
		}
		if !test.fails {
			want = append(want, test.request+" Bearer token"+test.body)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if !slices.Equal(slices.DeleteFunc(seen, func(s string) bool { return strings.HasPrefix(s, "POST /token Bearer tokenx") }), want) {
		t.Errorf("the server saw\n%s\nwant\n%s", strings.Join(seen, "\n"), strings.Join(want, "\n"))
	}
}
