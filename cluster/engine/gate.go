package engine

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// gate stands between the controllers, scheduler and nodes and the API server. While it is
// closed it refuses writes, which were decided upon knowing a state that is about to be gone.
type gate struct {
	mu      sync.Mutex
	closed  bool
	writing int
	idle    chan struct{} // closed when the last write ends, if somebody waits for that
}

// errOutdated is what those who write meet at a closed gate. They take it for a lost race,
// which is what it is: they look again and decide anew.
var errOutdated = apierrors.NewConflict(schema.GroupResource{}, "", errReset).Status()

// close lets no further writes pass and waits for those under way, at most for that long: one may
// be held up by an admission webhook.
func (g *gate) close(limit time.Duration) {
	g.mu.Lock()
	g.closed = true
	idle := make(chan struct{})
	if g.idle = idle; g.writing == 0 {
		close(idle)
		g.idle = nil
	}
	g.mu.Unlock()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-idle:
	case <-timer.C:
	}
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = false
}

// enter says whether a write may pass; leave must follow then.
func (g *gate) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.closed {
		g.writing++
	}
	return !g.closed
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.writing--; g.writing == 0 && g.idle != nil {
		close(g.idle)
		g.idle = nil
	}
}

// wrap is a transport.WrapperFunc for clients' configurations.
func (g *gate) wrap(next http.RoundTripper) http.RoundTripper { return gated{g, next} }

type gated struct {
	gate *gate
	next http.RoundTripper
}

// RoundTrip lets a request pass or answers it with a conflict.
func (t gated) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet {
		return t.next.RoundTrip(r)
	}
	if !t.gate.enter() {
		return outdated(r)
	}
	defer t.gate.leave() // once there is an answer, what it answers has been done
	return t.next.RoundTrip(r)
}

func outdated(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		_ = r.Body.Close() // nobody reads it
	}
	body, err := json.Marshal(errOutdated)
	if err != nil {
		return nil, err
	}
	return &http.Response{
		Status: http.StatusText(http.StatusConflict), StatusCode: http.StatusConflict,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        http.Header{"Content-Type": {"application/json"}},
		Body:          io.NopCloser(bytes.NewReader(body)),
		ContentLength: int64(len(body)),
		Request:       r,
	}, nil
}
