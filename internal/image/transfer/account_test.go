package transfer_test

import (
	"io"
	"log"
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
