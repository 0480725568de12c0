package protocol

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/slipway-dev/slipway/cluster/connlimit"
)

// maxRequest bounds a request's line, in bytes.
const maxRequest = 1 << 20

// maxWaiting bounds the requests of one connection that wait for their turn. A
// client that sends more is not read until some are answered.
const maxWaiting = 64

// Send sends an event to one client alone. It waits until the client's connection takes it, and fails once nothing more
// can be sent.
type Send func(Event) error

// Serve speaks the protocol on one connection: events from the log and replies to w, requests from r, with methods that
// may send the client events of its own. Requests are answered one after the other, while events go on and r is read
// on: Serve calls ended as soon as r ends, for whatever reason. It returns when the log is closed and sent completely,
// when w fails or when ctx ends; requests that were read before r ended are answered first. A read from r may still be
// pending then.
func Serve(ctx context.Context, r io.Reader, w io.Writer, log *Log, methods func(Send) Methods, ended func()) error {
	out := &lockedWriter{w: w}
	requests := make(chan []byte, maxWaiting)
	over, answered := make(chan struct{}), make(chan struct{})
	go func() {
		_ = readAll(r, requests) // however the client's requests end, ended says so
		close(over)
		ended()
	}()
	go func() {
		defer close(answered)
		answerAll(requests, out, methods(out.send))
	}()
	err := log.Follow(ctx, out.write)
	select {
	case <-over:
		<-answered
	default: // the client may never end
	}
	return err
}

// readAll hands on every line that is not empty, and closes requests at the end.
func readAll(r io.Reader, requests chan<- []byte) error {
	defer close(requests)
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxRequest)
	for lines.Scan() {
		if len(lines.Bytes()) > 0 {
			requests <- bytes.Clone(lines.Bytes())
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read requests: %w", err)
	}
	return nil
}

// answerAll answers in order. A client that went away loses its answers; what it has
// asked for is done nevertheless.
func answerAll(requests <-chan []byte, out *lockedWriter, methods Methods) {
	for request := range requests {
		reply, then := methods.answer(request)
		if encoded, err := line("reply", reply); err == nil {
			_ = out.write(encoded)
		}
		if then != nil {
			then()
		}
	}
}

// lockedWriter keeps lines whole when events and replies share a connection.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) write(line []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err := l.w.Write(line)
	return err
}

func (l *lockedWriter) send(e Event) error {
	encoded, err := Encode(e)
	if err != nil {
		return err
	}
	return l.write(encoded)
}

// Listener speaks the protocol with every client of a socket.
type Listener struct {
	log     *Log
	client  func() (methods func(Send) Methods, gone func())
	clients sync.WaitGroup
}

// NewListener makes a listener that hands out log. It calls client for each client: its requests
// are answered with methods, and gone is called once it has gone away and all are answered. Nothing more can be sent to
// it then.
func NewListener(log *Log, client func() (methods func(Send) Methods, gone func())) *Listener {
	return &Listener{log: log, client: client}
}

// Accept serves the clients of l until l is closed. Trouble is called when none can be taken for a moment, and may be
// nil.
func (s *Listener) Accept(ctx context.Context, l net.Listener, trouble func(error)) {
	connlimit.Connections(l, func(conn net.Conn) { s.clients.Go(func() { s.serve(ctx, conn) }) }, trouble)
}

// serve ends when the client has received the whole log or went away.
func (s *Listener) serve(ctx context.Context, conn net.Conn) {
	defer conn.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	methods, gone := s.client()
	defer gone()
	_ = Serve(ctx, conn, conn, s.log, methods, cancel) // a client's trouble is its own
	_ = conn.SetWriteDeadline(time.Unix(1, 0))         // a client that does not read holds nothing up
}

// Wait returns when all clients have received the whole log or ctx ends.
func (s *Listener) Wait(ctx context.Context) {
	done := make(chan struct{})
	go func() {
		s.clients.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}
