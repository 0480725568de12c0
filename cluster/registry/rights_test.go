package registry_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/cluster/registry"
)

// TestPagesMayNotPush: a browser of the cluster's user asks for whatever a page wants, so it says which page that is.
func TestPagesMayNotPush(t *testing.T) {
	r := start(t, registry.Options{Dir: t.TempDir() + "/registry"})
	const begin = "/v2/op/blobs/uploads/"
	for _, c := range []struct {
		method, path, origin, site string
		want                       int
	}{
		{http.MethodPost, begin, "", "", 202},
		{http.MethodPost, begin, "http://" + r.Address(), "", 202},
		{http.MethodPost, begin, "http://" + r.Address(), "same-origin", 202},
		{http.MethodPost, begin, "http://evil.example.com", "", 403},
		{http.MethodPost, begin, "http://evil.example.com", "cross-site", 403},
		{http.MethodPost, begin, "http://localhost:3000", "same-site", 403},
		{http.MethodPost, begin, "http://127.0.0.1:1", "", 403},
		{http.MethodPost, begin, "null", "", 403},
		{http.MethodPost, begin, "", "cross-site", 403},
		{http.MethodPut, "/v2/op/manifests/v1", "http://evil.example.com", "", 403},
		{http.MethodDelete, "/v2/op/manifests/v1", "http://evil.example.com", "", 403},
		{http.MethodGet, "/v2/", "http://evil.example.com", "", 200},
	} {
		req, err := http.NewRequest(c.method, "http://"+r.Address()+c.path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		for key, value := range map[string]string{"Origin": c.origin, "Sec-Fetch-Site": c.site} {
			if value != "" {
				req.Header.Set(key, value)
			}
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != c.want {
			t.Errorf("%s %s from %q, %q: %d, want %d", c.method, c.path, c.origin, c.site, resp.StatusCode, c.want)
		}
		if resp.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Error("pages may read the answer")
		}
	}
}

func TestToken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	first, err := registry.Token(path)
	if err != nil || len(first) < 26 {
		t.Fatalf("token %q, %v", first, err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if again, err := registry.Token(path); again != first || err != nil {
		t.Errorf("another token the next time: %v", err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 && !strings.Contains(os.Getenv("OS"), "Windows") {
		t.Errorf("others may read it: %v, %v", info.Mode(), err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil { // a disk was full
		t.Fatal(err)
	}
	if token, err := registry.Token(path); err != nil || len(token) < len(first) {
		t.Errorf("token %q, %v", token, err)
	}
}
