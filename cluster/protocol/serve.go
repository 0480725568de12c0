package protocol

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
)

// maxRequest bounds a request's line, in bytes.
const maxRequest = 1 << 20

// Serve speaks the protocol on one connection: events from the log and replies to w,
// requests from r. It calls ended when r ends, for whatever reason, and returns when
// the log is closed and told completely, when w fails or when ctx ends. A read
// from r may still be pending then.
func Serve(ctx context.Context, r io.Reader, w io.Writer, log *Log, methods Methods, ended func()) error {
	out := &lockedWriter{w: w}
	go func() {
		defer ended()
		_ = answerAll(r, out, methods) // however the client's requests end, ended says so
	}()
	return log.Follow(ctx, out.write)
}

func answerAll(r io.Reader, out *lockedWriter, methods Methods) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxRequest)
	for lines.Scan() {
		if len(lines.Bytes()) == 0 {
			continue
		}
		reply, then := methods.answer(lines.Bytes())
		encoded, err := line("reply", reply)
		if err == nil {
			err = out.write(encoded)
		}
		if then != nil {
			then()
		}
		if err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read requests: %w", err)
	}
	return nil
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

// Listener speaks the protocol with every client of a socket.
type Listener struct {
	log     *Log
	methods Methods
	clients sync.WaitGroup
}

// NewListener makes a listener that hands out log and answers with methods.
func NewListener(log *Log, methods Methods) *Listener {
	return &Listener{log: log, methods: methods}
}

// Accept serves the clients of l until l is closed.
func (s *Listener) Accept(ctx context.Context, l net.Listener) error {
	for {
		conn, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("accept a client: %w", err)
		}
		s.clients.Go(func() { s.serve(ctx, conn) })
	}
}

// serve ends when the client has received the whole log or went away.
func (s *Listener) serve(ctx context.Context, conn net.Conn) {
	defer conn.Close()
	ctx, gone := context.WithCancel(ctx)
	defer gone()
	_ = Serve(ctx, conn, conn, s.log, s.methods, gone) // a client's trouble is its own
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
