package tools

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/download"
	"github.com/slipway-dev/slipway/internal/operation"
	"github.com/slipway-dev/slipway/internal/release"
	"github.com/slipway-dev/slipway/internal/report"
)

// TestCheckVersion: a signed answer is compared, another one is refused, and without a key or by the user's wish no
// host is asked.
func TestCheckVersion(t *testing.T) {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	sums := release.Sums{release.Archive("v9.1.0", "linux", "amd64"): {}}.Text()
	files := map[string][]byte{"/latest/SHA256SUMS": sums, "/latest/SHA256SUMS.sig": release.Sign(private, sums)}
	asked := 0
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		_, _ = w.Write(files[r.URL.Path])
	}))
	defer host.Close()
	stamp := release.Stamp{PublicKey: base64.StdEncoding.EncodeToString(public)}
	check := func(wish string, stamp release.Stamp) (text string, err error) {
		s := &operation.Session{Getenv: func(string) string { return wish }, Handler: report.HandlerFunc(func(e report.Event) {
			if r, ok := e.(report.Result); ok {
				text = r.Text
			}
		})}
		_, err = checkVersion(t.Context(), s, stamp)
		return text, err
	}
	if _, err := check("off", stamp); !errors.Is(err, download.ErrOff) {
		t.Error(err)
	}
	if _, err := check(host.URL, release.Stamp{}); !errors.Is(err, release.ErrNoKey) {
		t.Error(err)
	}
	if asked != 0 {
		t.Errorf("asked %d times", asked)
	}
	if text, err := check(host.URL, stamp); err != nil || !strings.Contains(text, "v9.1.0 is newer") {
		t.Errorf("%q, %v", text, err)
	}
	silent := httptest.NewServer(http.NotFoundHandler())
	defer silent.Close()
	_, err = check(silent.URL, stamp)
	if e, ok := errors.AsType[*report.Error](err); !ok || !strings.Contains(e.Hint, download.Variable) || !strings.HasSuffix(e.Next, " "+silent.URL+"/latest/SHA256SUMS") {
		t.Errorf("a host that has no releases: %#v", err)
	}
	files["/latest/SHA256SUMS"] = append(sums, '\n')
	if _, err := check(host.URL, stamp); !errors.Is(err, release.ErrSignature) {
		t.Error(err)
	}
}

func TestCheckedVersion(t *testing.T) {
	c := CheckedVersion{Version: operation.Version{Version: "v0.2.0"}, Newest: "v0.2.0"}
	if text := c.String(); !strings.Contains(text, "no release is newer") {
		t.Error(text)
	}
}
