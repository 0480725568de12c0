package imagestore

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// private is a registry that wants a password, and keeps those who have it waiting.
type private struct {
	ref     string
	asked   chan struct{} // gets a word from each that waits
	proceed chan struct{}
	pulling bool
}

func newPrivate(t *testing.T) *private {
	t.Helper()
	p := &private{asked: make(chan struct{}), proceed: make(chan struct{})}
	all := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, password, _ := r.BasicAuth(); password != "secret" {
			w.Header().Set("WWW-Authenticate", "Basic")
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if p.pulling && strings.Contains(r.URL.Path, "/manifests/") {
			select {
			case p.asked <- struct{}{}:
				<-p.proceed
			case <-p.proceed:
			case <-r.Context().Done():
				return
			}
		}
		all.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	p.ref = strings.TrimPrefix(server.URL, "http://") + "/app:v1"
	r, err := name.ParseReference(p.ref)
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(r, imageOf(t, layer(t, entry{name: "a"})), remote.WithAuth(&authn.Basic{Username: "me", Password: "secret"})); err != nil {
		t.Fatal(err)
	}
	p.pulling = true
	return p
}

// TestPullsJoined: who has the same credentials waits for the same pull, also when the one that began it leaves. Who
// has others, or none, is asked for them.
func TestPullsJoined(t *testing.T) {
	p := newPrivate(t)
	s, err := Open(t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	mine := Credentials{User: "me", Password: "secret"}
	type result struct {
		image Image
		err   error
	}
	pull := func(ctx context.Context, c *Credentials) chan result {
		done := make(chan result, 1)
		go func() {
			image, err := s.Pull(ctx, p.ref, c)
			done <- result{image, err}
		}()
		return done
	}
	leaving, leave := context.WithCancel(t.Context())
	first := pull(leaving, &mine)
	<-p.asked
	for what, c := range map[string]*Credentials{"none": nil, "others": {User: "me", Password: "other"}} {
		r := <-pull(t.Context(), c)
		if e, ok := errors.AsType[*transport.Error](r.err); !ok || e.StatusCode != http.StatusUnauthorized {
			t.Errorf("with %s: %s (%v)", what, r.image.ID, r.err)
		}
	}
	same := mine
	second := pull(t.Context(), &same)
	for joined(s) < 2 {
		runtime.Gosched()
	}
	leave()
	if r := <-first; !errors.Is(r.err, context.Canceled) {
		t.Errorf("the one that left: %v", r.err)
	}
	close(p.proceed)
	if r := <-second; r.err != nil || r.image.ID == "" {
		t.Errorf("the one that waited: %v", r.err)
	}
	if left := joined(s); left != 0 {
		t.Errorf("%d wait for pulls", left)
	}
}

// joined is how many wait for pulls.
func joined(s *Store) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.pulls {
		n += p.waiting
	}
	return n
}
