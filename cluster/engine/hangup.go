package engine

import (
	"net"
	"sync"
)

// hangUp makes a listener that, when it is closed, hangs up on all who have called.
//
// A server that stops asks its clients to go and gives them a second, watches
// above all, which last for as long as both sides are there. Those of a cluster that has ended have nothing
// to wait for.
func hangUp(listener net.Listener) net.Listener {
	return &switchboard{Listener: listener, calls: map[*call]struct{}{}}
}

type switchboard struct {
	net.Listener

	mu     sync.Mutex
	closed bool
	calls  map[*call]struct{} // those that go on
}

// Accept waits for a call.
func (s *switchboard) Accept() (net.Conn, error) {
	conn, err := s.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &call{conn, s}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		_ = conn.Close() // nobody has heard of it
		return nil, net.ErrClosed
	}
	s.calls[c] = struct{}{}
	return c, nil
}

// Close ends the listener and all calls.
func (s *switchboard) Close() error {
	s.mu.Lock()
	calls := s.calls
	s.calls, s.closed = nil, true
	s.mu.Unlock()
	err := s.Listener.Close()
	for c := range calls {
		_ = c.Conn.Close() // may have been closed meanwhile
	}
	return err
}

type call struct {
	net.Conn
	board *switchboard
}

// Close ends the call, which the listener forgets.
func (c *call) Close() error {
	c.board.mu.Lock()
	delete(c.board.calls, c)
	c.board.mu.Unlock()
	return c.Conn.Close()
}
