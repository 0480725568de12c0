package transfer_test

import (
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/random"

	"github.com/slipway-dev/slipway/internal/image/store"
	"github.com/slipway-dev/slipway/internal/image/transfer"
)

// TestAccount: an account that is given is the registry's, whatever docker keeps.
func TestAccount(t *testing.T) {
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	images := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "slipway" || password != "token" {
			w.Header().Set("WWW-Authenticate", `Basic realm="images"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		images.ServeHTTP(w, r)
	}))
	defer server.Close()
	to, err := name.NewTag(strings.TrimPrefix(server.URL, "http://") + "/op:v1")
	if err != nil {
		t.Fatal(err)
	}
	img, err := random.Image(1<<10, 1)
	if err != nil {
		t.Fatal(err)
	}
	for password, want := range map[string]bool{"token": true, "another": false, "": false} {
		var account *transfer.Account
		if password != "" {
			account = &transfer.Account{User: "slipway", Password: password}
		}
		_, err := transfer.Registries{Account: account}.Push(t.Context(), to, store.Image{Image: img})
		if (err == nil) != want {
			t.Errorf("with password %q: %v", password, err)
		}
	}
}

// TestAccountOfLocalhost: who listens at the port of 127.0.0.1 gets the account, and not another user who listens at
// that of [::1].
func TestAccountOfLocalhost(t *testing.T) {
	t.Setenv("DOCKER_CONFIG", t.TempDir())
	asks := func(passwords *[]string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if _, password, ok := r.BasicAuth(); ok {
				*passwords = append(*passwords, password)
			}
			w.Header().Set("WWW-Authenticate", `Basic realm="images"`)
			w.WriteHeader(http.StatusUnauthorized)
		}
	}
	var ours, theirs []string
	server := httptest.NewServer(asks(&ours))
	defer server.Close()
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	thief := httptest.NewUnstartedServer(asks(&theirs))
	if thief.Listener, err = net.Listen("tcp", net.JoinHostPort("::1", port)); err != nil {
		t.Skip(err)
	}
	thief.Start()
	defer thief.Close()
	to, err := name.NewTag("localhost:" + port + "/op:v1")
	if err != nil {
		t.Fatal(err)
	}
	img, err := random.Image(1<<10, 1)
	if err != nil {
		t.Fatal(err)
	}
	account := transfer.Account{User: "slipway", Password: "token"}
	_, pushed := transfer.Registries{Account: &account}.Push(t.Context(), to, store.Image{Image: img})
	_, kept := transfer.Registries{}.Login(t.Context(), "localhost:"+port, account)
	if pushed == nil || kept == nil || len(ours) < 2 || len(theirs) > 0 {
		t.Errorf("at 127.0.0.1 %q, at ::1 %q; %v, %v", ours, theirs, pushed, kept)
	}
}
