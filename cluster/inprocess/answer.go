package inprocess

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
)

// bufferSize is how many bytes a handler may be ahead of its reader.
const bufferSize = 1 << 20

// answer is what a handler writes and a client reads.
type answer struct {
	ctx    context.Context // the handler's
	cancel context.CancelCauseFunc
	header http.Header   // the handler's; sent is a copy
	begun  chan struct{} // closed once the client may read

	mu      sync.Mutex
	changed *sync.Cond // the buffer, or whether there will be more
	status  int        // 0 until there is one
	sent    http.Header
	buffer  []byte // written, of which the first have been read
	read    int
	started bool  // begun is closed
	ended   bool  // the handler has returned, or the answer is over
	err     error // why it ended, nil for a complete answer
}

// newAnswer answers a request for as long as that and the server last.
func newAnswer(request, server context.Context) *answer {
	a := &answer{header: http.Header{}, begun: make(chan struct{})}
	a.changed = sync.NewCond(&a.mu)
	a.ctx, a.cancel = context.WithCancelCause(request)
	outlives := context.AfterFunc(server, func() { a.cancel(context.Cause(server)) })
	context.AfterFunc(a.ctx, func() {
		outlives()
		a.end(nil) // tells both sides
	})
	return a
}

// Header, WriteHeader, Write, Flush and CloseNotify are the handler's.
func (a *answer) Header() http.Header { return a.header }

func (a *answer) WriteHeader(status int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.writeHeader(status)
}

func (a *answer) writeHeader(status int) {
	const firstFinal = 200 // those below announce another one
	if a.status == 0 && status >= firstFinal {
		a.status, a.sent = status, a.header.Clone()
	}
}

func (a *answer) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.writeHeader(http.StatusOK)
	if a.unread() > 0 && a.unread()+len(p) > bufferSize {
		a.begin()
		for !a.ended && a.unread() > 0 {
			a.changed.Wait()
		}
	}
	if a.ended {
		return 0, a.failure()
	}
	a.buffer = append(a.buffer, p...)
	return len(p), nil
}

func (a *answer) unread() int { return len(a.buffer) - a.read }

func (a *answer) Flush() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.writeHeader(http.StatusOK)
	a.begin()
}

// CloseNotify is how older handlers ask for what the request's context reports. They take who has it not for one that
// cannot stream.
func (a *answer) CloseNotify() <-chan bool {
	gone := make(chan bool, 1)
	context.AfterFunc(a.ctx, func() { gone <- true })
	return gone
}

// begin lets the client read what there is.
func (a *answer) begin() {
	if !a.started {
		a.started = true
		close(a.begun)
	}
	a.changed.Broadcast()
}

// end ends the answer: because the handler is through, then the context ends too; because it failed; or because the
// context has ended.
func (a *answer) end(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		return
	}
	if err == nil {
		err = context.Cause(a.ctx)
	}
	a.ended, a.err = true, err
	if err == nil {
		a.writeHeader(http.StatusOK)
	}
	a.begin()
	a.cancel(nil)
}

// failure is why nobody can write any more.
func (a *answer) failure() error {
	if a.err != nil {
		return a.err
	}
	return http.ErrHandlerTimeout // a handler that goes on after it has returned
}

// response is the beginning of the answer for the client.
func (a *answer) response(r *http.Request) (*http.Response, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.status == 0 {
		return nil, a.err
	}
	length := int64(-1)
	if a.ended && a.err == nil {
		length = int64(a.unread())
	}
	return &http.Response{
		Status: fmt.Sprintf("%d %s", a.status, http.StatusText(a.status)), StatusCode: a.status,
		Proto: "HTTP/2.0", ProtoMajor: 2,
		Header: a.sent, Body: body{a}, ContentLength: length, Request: r,
	}, nil
}

// body is the client's side.
type body struct{ a *answer }

// Read returns what the handler has written. Like on a connection, an answer that the server breaks off ends
// unexpectedly.
func (b body) Read(p []byte) (int, error) {
	a := b.a
	a.mu.Lock()
	defer a.mu.Unlock()
	for a.unread() == 0 && !a.ended {
		a.changed.Wait()
	}
	if a.unread() > 0 {
		return a.take(p), nil
	}
	switch {
	case a.err == nil:
		return 0, io.EOF
	case errors.Is(a.err, ErrClosed):
		return 0, io.ErrUnexpectedEOF
	}
	return 0, a.err
}

// take reads some of the buffer, and keeps a small one for what a watch sends next.
func (a *answer) take(p []byte) int {
	const small = 16 << 10
	n := copy(p, a.buffer[a.read:])
	if a.read += n; a.unread() == 0 {
		if a.buffer, a.read = a.buffer[:0], 0; cap(a.buffer) > small {
			a.buffer = nil
		}
		a.changed.Broadcast()
	}
	return n
}

// Close lets the handler know that the reader has gone.
func (b body) Close() error {
	b.a.cancel(context.Canceled)
	return nil
}
