// Package inprocess makes requests to an [http.Handler] of this process without a connection: no sockets, TLS or
// frames.
//
// The handler meets what a server over HTTP/2 would give it, so that it authenticates, authorizes, streams and gives up
// as always; the client meets what a connection would give it:
//
//	front := inprocess.New()
//	client := &http.Client{Transport: front}   // requests wait
//	front.Serve(handler)                       // from now on they are answered
//	…
//	front.Close()                              // ends all that are open, watches too
//
// An answer begins when the handler flushes it, when it is complete, or when it has grown to [bufferSize]. From then on
// a handler that is that far ahead of its reader waits for him. The handler's context ends with the request's, when the
// answer is closed, and with the server.
package inprocess

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
)

// ErrClosed says that the server has ended.
var ErrClosed = errors.New("the server in this process has ended")

// Front is the client's side of a handler, an [http.RoundTripper]. It may be given to clients before there is a
// handler.
type Front struct {
	handler http.Handler
	there   chan struct{}   // closed once handler is set
	life    context.Context // of all answers
	end     context.CancelCauseFunc
}

// New returns a front without a handler.
func New() *Front {
	f := &Front{there: make(chan struct{})}
	f.life, f.end = context.WithCancelCause(context.Background())
	return f
}

// Serve is called once, with the handler that answers requests from now on.
func (f *Front) Serve(handler http.Handler) {
	f.handler = handler
	close(f.there)
}

// Close fails all requests, those that are open as well. It does not wait for their handlers.
func (f *Front) Close() { f.end(ErrClosed) }

// Instead is for what clients wrap transports with: the wrapped one is not used.
func (f *Front) Instead(http.RoundTripper) http.RoundTripper { return f }

// RoundTrip has the handler answer a request. The scheme and host of the request's URL do not choose where it goes.
func (f *Front) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := f.await(r.Context()); err != nil {
		closeBody(r)
		return nil, err
	}
	a := newAnswer(r.Context(), f.life)
	go f.answer(a, received(a.ctx, r))
	<-a.begun // at the latest when the request's context ends
	return a.response(r)
}

// await returns when there is a handler.
func (f *Front) await(ctx context.Context) error {
	select {
	case <-f.life.Done():
		return ErrClosed
	default:
	}
	select {
	case <-f.there:
		return nil
	case <-f.life.Done():
		return ErrClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// answer runs the handler. As on a connection, a panic fails the request that it answers.
func (f *Front) answer(a *answer, r *http.Request) {
	defer closeBody(r)
	defer func() {
		if p := recover(); p != nil {
			a.end(fmt.Errorf("the handler of %s %s panicked: %v", r.Method, r.URL.Path, p))
			return
		}
		a.end(nil)
	}()
	f.handler.ServeHTTP(a, r)
}

// received is a request as its receiver sees it. The receiver may change it; the sender's stays as it is.
func received(ctx context.Context, sent *http.Request) *http.Request {
	r := sent.Clone(ctx)
	r.Proto, r.ProtoMajor, r.ProtoMinor = "HTTP/2.0", 2, 0
	r.RemoteAddr = "127.0.0.1:0"
	r.URL = &url.URL{Path: sent.URL.Path, RawPath: sent.URL.RawPath, RawQuery: sent.URL.RawQuery}
	r.RequestURI = r.URL.RequestURI()
	if r.Host == "" {
		r.Host = sent.URL.Host
	}
	if r.Body == nil {
		r.Body = http.NoBody
	}
	return r
}

func closeBody(r *http.Request) {
	if r.Body != nil {
		_ = r.Body.Close() // nobody reads it any more
	}
}
