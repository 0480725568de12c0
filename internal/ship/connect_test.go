package ship

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/slipway-dev/slipway/internal/report"
)

const kubeconfig = `
apiVersion: v1
kind: Config
current-context: one
clusters:
- {name: one, cluster: {server: "https://127.0.0.1:1"}}
contexts:
- {name: one, context: {cluster: one, namespace: there}}
`

func TestConnect(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(path, []byte(kubeconfig), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, k := range []Kubeconfig{{Path: path}, {List: path}, {List: "/nowhere" + string(filepath.ListSeparator) + path, Context: "one"}} {
		c, err := Connect(k, report.Discard)
		if err != nil {
			t.Fatalf("%+v: %v", k, err)
		}
		if c.Server() != "https://127.0.0.1:1" || c.namespace != "there" {
			t.Errorf("%+v: server %s, namespace %s", k, c.Server(), c.namespace)
		}
	}
	for what, k := range map[string]Kubeconfig{
		"no cluster is configured":            {List: "/nowhere"},
		`the kubeconfig has no context "two"`: {Path: path, Context: "two"},
	} {
		_, err := Connect(k, report.Discard)
		if known, ok := errors.AsType[*report.Error](err); !ok || known.What != what || known.Next == "" {
			t.Errorf("%+v: %v, want %s", k, err, what)
		}
	}
}

func TestPing(t *testing.T) {
	answers := func(status int) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status); _, _ = w.Write([]byte("{}")) })
	}
	up, down := httptest.NewServer(answers(http.StatusOK)), httptest.NewServer(answers(http.StatusOK))
	strict, stranger := httptest.NewServer(answers(http.StatusUnauthorized)), httptest.NewUnstartedServer(answers(http.StatusOK))
	stranger.Config.ErrorLog = log.New(io.Discard, "", 0) // that its certificate is refused is the point
	stranger.StartTLS()
	defer up.Close()
	defer stranger.Close()
	defer strict.Close()
	down.Close()
	for _, test := range []struct{ name, url, what string }{
		{"up", up.URL, ""},
		{"down", down.URL, "no cluster is reachable"},
		{"another cluster", stranger.URL, "the server is not the cluster of the kubeconfig"},
		{"other credentials", strict.URL, "the cluster does not accept the credentials"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, err := New(&rest.Config{Host: test.url}, "default", report.Discard)
			if err != nil {
				t.Fatal(err)
			}
			err = c.Ping(t.Context())
			known, _ := errors.AsType[*report.Error](err)
			switch {
			case test.what == "" && err != nil:
				t.Error(err)
			case test.what != "" && (known == nil || known.What != test.what || known.Where != test.url):
				t.Errorf("Ping returned %v, want %s", err, test.what)
			}
		})
	}
}

// TestPingInterrupted: who interrupts is not told that there is no cluster.
func TestPingInterrupted(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	c, err := New(&rest.Config{Host: "http://" + silent.Addr().String()}, "default", report.Discard)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		if conn, err := silent.Accept(); err == nil {
			cancel()
			_ = conn.Close()
		}
	}()
	if err := c.Ping(ctx); !errors.Is(err, ctx.Err()) || err == nil {
		t.Errorf("Ping returned %v, want %v", err, ctx.Err())
	}
}
