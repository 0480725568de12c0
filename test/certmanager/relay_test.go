package main

import (
	"io"
	"net"
	"sync"
	"testing"
)

// relay leads connections to another address. The API server keeps its connections to a webhook; when the relay cuts them, it
// has to look at the certificate again.
type relay struct {
	port  int
	mutex sync.Mutex
	open  []net.Conn
}

// newRelay leads to an address until the test ends.
func newRelay(t *testing.T, to string) *relay {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{port: listener.Addr().(*net.TCPAddr).Port}
	var ended sync.WaitGroup
	ended.Go(func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			ended.Go(func() { r.connect(from, to) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		r.cut()
		ended.Wait()
	})
	return r
}

// connect passes on what either side says, until one of them ends.
func (r *relay) connect(from net.Conn, address string) {
	defer func() { _ = from.Close() }()
	to, err := net.Dial("tcp", address)
	if err != nil {
		return // as if nobody listened
	}
	defer func() { _ = to.Close() }()
	r.mutex.Lock()
	r.open = append(r.open, from, to)
	r.mutex.Unlock()
	var answers sync.WaitGroup
	answers.Go(func() {
		_, _ = io.Copy(from, to)
		_ = from.Close()
	})
	_, _ = io.Copy(to, from)
	_ = to.Close()
	answers.Wait()
}

// cut ends all connections; new ones may be made.
func (r *relay) cut() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for _, conn := range r.open {
		_ = conn.Close()
	}
	r.open = nil
}
