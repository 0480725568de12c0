package connlimit

import (
	"net"
	"sync"
)

// HangUp returns a listener that, when it is closed, closes the connections that it has accepted, too.
//
// A server that stops asks its clients to go and gives them a second, watches
// above all, which last for as long as both sides are there. Those of a cluster that has ended have nothing
// to wait for.
func HangUp(listener net.Listener) net.Listener {
	return &hangUp{Listener: listener, conns: map[*tracked]struct{}{}}
}

type hangUp struct {
	net.Listener

	mu     sync.Mutex
	closed bool
	conns  map[*tracked]struct{} // those that go on
}

// Accept waits for a connection.
func (s *hangUp) Accept() (net.Conn, error) {
	conn, err := s.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &tracked{conn, s}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		_ = conn.Close() // it came too late
		return nil, net.ErrClosed
	}
	s.conns[c] = struct{}{}
	return c, nil
}

// Close ends the listener and all its connections.
func (s *hangUp) Close() error {
	s.mu.Lock()
	conns := s.conns
	s.conns, s.closed = nil, true
	s.mu.Unlock()
	err := s.Listener.Close()
	for c := range conns {
		_ = c.Conn.Close() // may have been closed meanwhile
	}
	return err
}

// tracked is a connection that its listener knows.
type tracked struct {
	net.Conn
	tracker *hangUp
}

// Close ends the connection, which the listener forgets.
func (c *tracked) Close() error {
	c.tracker.mu.Lock()
	delete(c.tracker.conns, c)
	c.tracker.mu.Unlock()
	return c.Conn.Close()
}
