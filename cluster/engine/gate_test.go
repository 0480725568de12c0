package engine

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// backend is a server that keeps those who write until they are let go.
type backend struct {
	entered chan string
	release chan struct{}
}

func (b *backend) RoundTrip(r *http.Request) (*http.Response, error) {
	b.entered <- r.Method
	if r.Method != http.MethodGet {
		<-b.release
	}
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: r}, nil
}

func newGated() (*gate, *backend, http.RoundTripper) {
	g, b := &gate{}, &backend{entered: make(chan string, 4), release: make(chan struct{})}
	return g, b, g.wrap(b)
}

// send returns the status that comes back.
func send(t *testing.T, to http.RoundTripper, method string) int {
	r, err := http.NewRequestWithContext(t.Context(), method, "https://localhost/api/v1/pods", strings.NewReader("{}"))
	if err != nil {
		t.Error(err)
		return 0
	}
	answer, err := to.RoundTrip(r)
	if err != nil {
		t.Error(err)
		return 0
	}
	defer answer.Body.Close()
	return answer.StatusCode
}

func TestMutedEventsComeToNothing(t *testing.T) {
	g, b, client := newGated()
	close(b.release)
	const events, other = "/api/v1/namespaces/default/events", "/apis/events.k8s.io/v1/namespaces/default/events"
	for _, muted := range []bool{false, true, false} {
		g.mute(muted)
		passes := map[bool]int{true: http.StatusCreated, false: http.StatusOK}[muted]
		for _, c := range []struct {
			method, path string
			want         int
		}{
			{http.MethodPost, events, passes},
			{http.MethodPost, other, passes},
			{http.MethodPatch, events + "/a", map[bool]int{true: http.StatusNotFound, false: http.StatusOK}[muted]},
			{http.MethodDelete, events, http.StatusOK},
			{http.MethodPost, "/api/v1/namespaces/events/pods", http.StatusOK},
		} {
			r, err := http.NewRequestWithContext(t.Context(), c.method, "https://localhost"+c.path, strings.NewReader(`{"kind":"Event"}`))
			if err != nil {
				t.Fatal(err)
			}
			answer, err := client.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(answer.Body)
			if err != nil || answer.StatusCode != c.want || answer.StatusCode == http.StatusCreated && string(body) != `{"kind":"Event"}` {
				t.Errorf("muted %t, %s %s: %d, %q, %v; want %d", muted, c.method, c.path, answer.StatusCode, body, err, c.want)
			}
			_ = answer.Body.Close()
			for len(b.entered) > 0 {
				<-b.entered
			}
		}
	}
}

func TestClosedGateRefusesWritesAlone(t *testing.T) {
	g, b, client := newGated()
	close(b.release)
	g.close(0)
	if got := send(t, client, http.MethodPost); got != http.StatusConflict {
		t.Errorf("a write at a closed gate: got %d, want a conflict", got)
	}
	if got := send(t, client, http.MethodGet); got != http.StatusOK {
		t.Errorf("a read at a closed gate: got %d", got)
	}
	g.open()
	if got := send(t, client, http.MethodPost); got != http.StatusOK {
		t.Errorf("a write at an open gate: got %d", got)
	}
}

func TestGateWaitsForWritesUnderWay(t *testing.T) {
	g, b, client := newGated()
	answered := make(chan int, 1)
	go func() { answered <- send(t, client, http.MethodPut) }()
	<-b.entered
	closed := make(chan struct{})
	go func() {
		g.close(time.Minute)
		close(closed)
	}()
	for g.enter() { // as long as the gate was not told
		g.leave()
	}
	if got := send(t, client, http.MethodDelete); got != http.StatusConflict {
		t.Errorf("a write at a gate that is being closed: got %d", got)
	}
	select {
	case <-closed:
		t.Error("the gate was closed while a write was under way")
	default:
	}
	close(b.release)
	if got := <-answered; got != http.StatusOK {
		t.Errorf("the write under way: got %d", got)
	}
	<-closed
}

func TestGateGivesUpOnWritesThatDoNotEnd(t *testing.T) {
	g, b, client := newGated()
	answered := make(chan int, 1)
	go func() { answered <- send(t, client, http.MethodPut) }()
	<-b.entered
	g.close(time.Millisecond)
	close(b.release)
	if got := <-answered; got != http.StatusOK {
		t.Errorf("got %d", got)
	}
}
