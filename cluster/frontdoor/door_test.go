package frontdoor_test

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/slipway-dev/slipway/cluster/frontdoor"
	"github.com/slipway-dev/slipway/cluster/pki"
)

// open opens a door to a handler. The real server behind doors is that of cluster/serve's tests.
func open(t *testing.T, handler http.HandlerFunc) *frontdoor.Door {
	t.Helper()
	return openWith(t, handler, nil)
}

func openWith(t *testing.T, handler http.HandlerFunc, inspection *frontdoor.Inspection) *frontdoor.Door {
	t.Helper()
	dir := t.TempDir()
	keys, err := pki.Ensure(filepath.Join(dir, "pki"), "test")
	if err != nil {
		t.Fatal(err)
	}
	door, err := frontdoor.Open(frontdoor.Options{
		Name: "test", Dir: filepath.Join(dir, "doors", "one"), Identity: user.DefaultInfo{Name: "u"}, Keys: keys,
		Serve:       func(user.Info) http.Handler { return handler },
		LongRunning: func(_ *http.Request, info *request.RequestInfo) bool { return info.Subresource == "exec" },
		Log:         slog.New(slog.DiscardHandler),
		Inspection:  inspection,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = door.Close() })
	return door
}

// dial is a connection to a door over which a request has been sent.
func dial(t *testing.T, door *frontdoor.Door, path string) (*tls.Conn, *bufio.Reader) {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", door.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(config.CAData)
	conn, err := tls.Dial("tcp", strings.TrimPrefix(door.Server(), "https://"), &tls.Config{RootCAs: roots})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: door\r\nAuthorization: Bearer %s\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n", path, config.BearerToken)
	return conn, bufio.NewReader(conn)
}

// answered is the next request that was answered.
func answered(t *testing.T, door *frontdoor.Door) frontdoor.Request {
	t.Helper()
	for r := range door.Reports() {
		if request, is := r.(frontdoor.Request); is {
			return request
		}
	}
	t.Fatal("the door is closed")
	return frontdoor.Request{}
}

const exec = "/api/v1/namespaces/default/pods/p/exec"

// TestCloseEndsUpgraded: connections that a handler has taken over end with the door, too, and Close waits for the
// handler.
func TestCloseEndsUpgraded(t *testing.T) {
	ended := false
	door := open(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, rw, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = rw.WriteString("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
		_ = rw.Flush()
		_, _ = io.Copy(conn, rw)
		ended = true
	})
	conn, from := dial(t, door, exec)
	answer, err := http.ReadResponse(from, nil)
	if err != nil || answer.StatusCode != http.StatusSwitchingProtocols {
		t.Fatal(answer, err)
	}
	fmt.Fprintln(conn, "hello")
	if line, err := from.ReadString('\n'); err != nil || line != "hello\n" {
		t.Errorf("%q, %v", line, err)
	}
	if r := answered(t, door); r.Status != http.StatusSwitchingProtocols || r.Subresource != "exec" || r.User != "u" {
		t.Errorf("%+v", r)
	}
	if err := door.Close(); err != nil {
		t.Error(err)
	}
	if !ended {
		t.Error("the handler goes on after Close has returned")
	}
	if _, err := from.ReadString('\n'); err == nil {
		t.Error("the connection goes on")
	}
	if _, there := <-door.Reports(); there {
		t.Error("it was reported twice")
	}
	if _, err := os.Stat(filepath.Dir(door.Kubeconfig())); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the kubeconfig's folder: %v", err)
	}
}

// TestStatus: reported is what the client reads, or 0.
func TestStatus(t *testing.T) {
	for name, tt := range map[string]struct {
		handler http.HandlerFunc
		path    string
		want    int
	}{
		"nothing said": {func(http.ResponseWriter, *http.Request) {}, "/version", http.StatusOK},
		"announced": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(http.StatusTeapot)
		}, "/version", http.StatusTeapot},
		"broken off": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "/version", 0},
		"an upgrade refused": {func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = io.WriteString(conn, "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
			_ = conn.Close()
		}, exec, http.StatusForbidden},
		"an upgrade broken off": {func(w http.ResponseWriter, _ *http.Request) {
			if conn, _, err := w.(http.Hijacker).Hijack(); err == nil {
				_ = conn.Close()
			}
		}, exec, 0},
	} {
		t.Run(name, func(t *testing.T) {
			door := open(t, tt.handler)
			dial(t, door, tt.path)
			if r := answered(t, door); r.Status != tt.want {
				t.Errorf("%+v, want status %d", r, tt.want)
			}
		})
	}
}
