package dev

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/ship"
)

// try has the API server of a cluster that is not slipway's own call webhooks at the address that the user names. Until
// it has called slipway there, it ignores failures and converts as before. The rest is for serving, which is to be
// called while the manager runs: a write between the proof and the manager's start fails for no one. Serving is nil if
// the API server does not call.
func (o Options) try(ctx context.Context, cluster *ship.Cluster, d *ship.Detour, hooks *projectWebhooks, l listening) (serving func(context.Context) error, err error) {
	if err := cluster.CallTentatively(ctx, d); err != nil {
		return nil, err
	}
	o.Handler.Handle(report.Step{Name: "waiting until the API server calls https://" + hooks.Address})
	err = awaitCall(ctx, cluster, d, hooks, l)
	if errors.Is(err, ship.ErrNotCalled) {
		o.Handler.Handle(report.Warning{Text: "the API server does not reach https://" + hooks.Address + ", so it ignores webhooks that fail and converts as before; " +
			"run listens at " + l.listen() + ", and --address names another address: " + err.Error()})
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		if err := awaitServing(ctx, l.webhooks(), hooks.Authority); err != nil {
			return err
		}
		if err := cluster.CallHere(ctx, d); err != nil {
			return err
		}
		o.noteCalled(hooks, d)
		return nil
	}, nil
}

// awaitCall listens where the manager will, until the API server has called the run's probe.
func awaitCall(ctx context.Context, cluster *ship.Cluster, d *ship.Detour, hooks *projectWebhooks, l listening) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", l.listen())
	if err != nil {
		return fmt.Errorf("serve webhooks: %w", err)
	}
	called := make(chan struct{})
	server := &http.Server{Handler: probed(hooks.Probe, sync.OnceFunc(func() { close(called) })), ReadTimeout: takeBackPatience, ErrorLog: log.New(io.Discard, "", 0)}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.ServeTLS(listener, filepath.Join(hooks.certificates, certificateFile), filepath.Join(hooks.certificates, keyFile))
	}()
	defer func() {
		_ = server.Close()
		<-ended
	}()
	return cluster.AwaitCall(ctx, d, called)
}

// maxReview bounds the review of a probe, which has a small object.
const maxReview = 1 << 20

// probed answers the API server's call of a probe. Only it knows the path: who else calls does not count.
func probed(probe string, called func()) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+ship.ProbePath(probe), func(w http.ResponseWriter, r *http.Request) {
		var review struct {
			APIVersion string         `json:"apiVersion"`
			Kind       string         `json:"kind"`
			Request    *reviewRequest `json:"request,omitempty"`
			Response   map[string]any `json:"response"`
		}
		if err := json.NewDecoder(io.LimitReader(r.Body, maxReview)).Decode(&review); err != nil || review.Request == nil {
			http.Error(w, "no admission review", http.StatusBadRequest)
			return
		}
		review.Response, review.Request = map[string]any{"uid": review.Request.UID, "allowed": true}, nil
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(review) // the call has come, whatever becomes of the answer
		called()
	})
	return mux
}

// reviewRequest is what an answer needs of a review's request.
type reviewRequest struct {
	UID string `json:"uid"`
}

// servingPause is how long to wait for a manager that does not serve yet.
const servingPause = 100 * time.Millisecond

// awaitServing waits until a server with a certificate of the authority answers at an address.
func awaitServing(ctx context.Context, address string, authority []byte) error {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	dialer := &tls.Dialer{Config: &tls.Config{RootCAs: roots}}
	for {
		conn, err := dialer.DialContext(ctx, "tcp", address)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(servingPause):
		}
	}
}
