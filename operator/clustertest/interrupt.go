package clustertest

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// ErrInterrupted is why a write of an account fails in [Account.Interrupt], as far as the operator's client keeps
// causes.
var ErrInterrupted = errors.New("the connection was interrupted by clustertest")

// Interrupt calls scenario again and again, and each time one more write of the account fails: in the first call its
// first write, then its second, until a call makes fewer writes. Each is tried twice, lost before the API server sees
// it, and unanswered after it took effect. An operator that repeats what failed comes to the same end each time;
// scenario makes an object of its own, has the operator work, and checks that end.
//
// Leases and events are left alone: a leader and a recorder write them whenever they like.
func (a *Account) Interrupt(t *testing.T, scenario func(t *testing.T)) {
	t.Helper()
	for _, f := range []failure{{"lost", false}, {"unanswered", true}} {
		for n := 1; ; n++ {
			a.wire.arm(n, f.reaches)
			t.Run(fmt.Sprintf("write %d %s", n, f.name), scenario)
			if met := a.wire.disarm(); !met {
				if n == 1 {
					t.Errorf("clustertest: no write of %s was interrupted: does the operator use the account's Config?", a.user())
				}
				break
			}
		}
	}
}

// failure is a way in which a write fails.
type failure struct {
	name    string
	reaches bool // the API server
}

// wire is what an account's requests go through.
type wire struct {
	mu      sync.Mutex
	left    int // writes until one fails; 0: none will
	reaches bool
	met     bool
}

func (w *wire) arm(n int, reaches bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left, w.reaches, w.met = n, reaches, false
}

// disarm reports whether a write failed.
func (w *wire) disarm() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left = 0
	return w.met
}

// hit reports whether a write that is about to be sent is the one that fails, and whether it reaches the API server all
// the same.
func (w *wire) hit() (hit, reaches bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.left == 0 {
		return false, false
	}
	w.left--
	if w.left > 0 {
		return false, false
	}
	w.met = true
	return true, w.reaches
}

// wrap returns a transport whose writes may fail.
func (w *wire) wrap(next http.RoundTripper) http.RoundTripper { return &wired{w, next} }

type wired struct {
	wire *wire
	next http.RoundTripper
}

// RoundTrip implements [http.RoundTripper].
func (r *wired) RoundTrip(q *http.Request) (*http.Response, error) {
	if !interruptible(q) {
		return r.next.RoundTrip(q)
	}
	hit, reaches := r.wire.hit()
	if !hit {
		return r.next.RoundTrip(q)
	}
	if !reaches {
		if q.Body != nil {
			_ = q.Body.Close() // as a transport must
		}
		return nil, ErrInterrupted
	}
	answer, err := r.next.RoundTrip(q)
	if err != nil {
		return nil, err
	}
	return nil, errors.Join(ErrInterrupted, answer.Body.Close())
}

// interruptible reports whether a request writes an object that counts.
func interruptible(q *http.Request) bool {
	if q.Method == http.MethodGet || q.Method == http.MethodHead {
		return false
	}
	for _, group := range []string{"/apis/coordination.k8s.io/", "/apis/events.k8s.io/", "/apis/authentication.k8s.io/", "/apis/authorization.k8s.io/"} {
		if strings.HasPrefix(q.URL.Path, group) {
			return false
		}
	}
	return !strings.Contains(q.URL.Path, "/events") || !strings.HasPrefix(q.URL.Path, "/api/v1/")
}
