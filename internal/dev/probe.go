package dev

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ship"
)

// A probe is a webhook by which the API server of a cluster proves that it reaches this machine. Only it knows the
// path: another caller does not count.
type probe struct {
	text string
	once func()
	seen chan struct{} // closed when the API server has called
}

func newProbe(text string) *probe {
	p := &probe{text: text, seen: make(chan struct{})}
	p.once = sync.OnceFunc(func() { close(p.seen) })
	return p
}

// called reports whether the API server has called.
func (p *probe) called() bool {
	select {
	case <-p.seen:
		return true
	default:
		return false
	}
}

// maxReview bounds the review of a probe, which has a small object.
const maxReview = 1 << 20

// answer answers a call of the probe, and reports whether a request was one.
func (p *probe) answer(w http.ResponseWriter, r *http.Request) bool {
	if r.Method != http.MethodPost || r.URL.Path != ship.ProbePath(p.text) {
		return false
	}
	var review struct {
		APIVersion string         `json:"apiVersion"`
		Kind       string         `json:"kind"`
		Request    *reviewRequest `json:"request,omitempty"`
		Response   map[string]any `json:"response"`
	}
	if err := json.NewDecoder(io.LimitReader(r.Body, maxReview)).Decode(&review); err != nil || review.Request == nil {
		http.Error(w, "no admission review", http.StatusBadRequest)
		return true
	}
	review.Response, review.Request = map[string]any{"uid": review.Request.UID, "allowed": true}, nil
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(review) // the call has come, whatever becomes of the answer
	p.once()
	return true
}

// reviewRequest is what an answer needs of a review's request.
type reviewRequest struct {
	UID string `json:"uid"`
}

// try has the API server of a cluster that is not slipway's own call webhooks at the address that the user names. Until
// it has called the probe there, it ignores failures and converts as before. After that, and once a manager serves,
// [webhooks.serving] has it rely on them.
func (o Options) try(ctx context.Context, w *webhooks, hooks *projectWebhooks) error {
	if err := w.cluster.CallTentatively(ctx, w.detour); err != nil {
		return err
	}
	o.Handler.Handle(report.Step{Name: "waiting until the API server calls https://" + hooks.Address})
	err := w.cluster.AwaitCall(ctx, w.detour, w.probe.seen)
	if errors.Is(err, ship.ErrNotCalled) {
		o.Handler.Handle(report.Warning{Text: "the API server does not reach https://" + hooks.Address + ", so it ignores webhooks that fail and converts as before; " +
			"slipway listens at " + w.proxy.Address() + ", and --address names another address: " + err.Error()})
		return nil
	}
	return err
}
