package transfer

import (
	"errors"
	"net/http"
	"testing"
)

// TestPlainToThisMachineAlone: no byte goes to another machine without encryption.
func TestPlainToThisMachineAlone(t *testing.T) {
	asked := errors.New("asked")
	g := guarded{roundTrip(func(*http.Request) (*http.Response, error) { return nil, asked })}
	for url, want := range map[string]error{
		"http://localhost:5001/v2/":   asked,
		"http://127.0.0.1/v2/":        asked,
		"http://[::1]:5001/v2/":       asked,
		"http://10.0.0.1:5001/v2/":    errPlain,
		"http://harbour.local/v2/":    errPlain,
		"http://127.0.0.1.nip.io/v2/": errPlain,
		"https://10.0.0.1:5001/v2/":   asked,
	} {
		r, err := http.NewRequest(http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := g.RoundTrip(r)
		if err == nil {
			_ = response.Body.Close()
		}
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", url, err, want)
		}
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
