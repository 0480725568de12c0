package engine

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// gate stands between the controllers, scheduler and nodes and the API server. While it is
// closed it refuses writes, which were decided upon knowing a state that is about to be gone.
type gate struct {
	mu      sync.Mutex
	closed  bool
	muted   bool
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

// mute has Events of those behind the gate come to nothing, or not any more.
func (g *gate) mute(yes bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.muted = yes
}

// drops reports whether a request is to write an Event that comes to nothing.
func (g *gate) drops(r *http.Request) bool {
	if r.Method != http.MethodPost && r.Method != http.MethodPatch {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.muted && eventPath.MatchString(r.URL.Path)
}

// eventPath is that of Events, of either group.
var eventPath = regexp.MustCompile(`^/(api|apis/events\.k8s\.io)/v1/namespaces/[^/]+/events(/[^/]+)?$`)

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
	if t.gate.drops(r) {
		return dropped(r)
	}
	if !t.gate.enter() {
		return outdated(r)
	}
	defer t.gate.leave() // once there is an answer, what it answers has been done
	return t.next.RoundTrip(r)
}

// dropped answers a request about an Event: one that is to be created comes back as it was sent, and one that is to be
// counted up does not exist, so that it is created anew. See recordEvent in k8s.io/client-go/tools/record.
func dropped(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPatch {
		return refuse(r, errNoEvent)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	return answer(r, http.StatusCreated, r.Header.Get("Content-Type"), body), r.Body.Close()
}

var errNoEvent = apierrors.NewNotFound(schema.GroupResource{Resource: "events"}, "").Status()

func outdated(r *http.Request) (*http.Response, error) { return refuse(r, errOutdated) }

// refuse answers a request in the server's place.
func refuse(r *http.Request, status metav1.Status) (*http.Response, error) {
	if r.Body != nil {
		_ = r.Body.Close() // it is not read
	}
	body, err := json.Marshal(status)
	if err != nil {
		return nil, err
	}
	return answer(r, int(status.Code), "application/json", body), nil
}

func answer(r *http.Request, status int, contentType string, body []byte) *http.Response {
	return &http.Response{
		Status: http.StatusText(status), StatusCode: status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        http.Header{"Content-Type": {contentType}},
		Body:          io.NopCloser(bytes.NewReader(body)),
		ContentLength: int64(len(body)),
		Request:       r,
	}
}
