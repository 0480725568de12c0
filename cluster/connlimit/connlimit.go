package connlimit

import (
	"errors"
	"net"
	"time"
)

// Connections calls each with every connection, until listener is closed. While it works no other connection is taken,
// so each starts what takes long. Trouble is called with the first of several failures in a row, and may be nil.
func Connections(listener net.Listener, each func(net.Conn), trouble func(error)) {
	p := pause{trouble: trouble}
	for {
		conn, err := listener.Accept()
		switch {
		case err == nil:
			p.over()
			each(conn)
		case !p.take(err):
			return
		}
	}
}

// Packets calls each with every packet, which is in buffer and cut off where that ends, until conn is closed.
func Packets(conn net.PacketConn, buffer []byte, each func(packet []byte, from net.Addr), trouble func(error)) {
	p := pause{trouble: trouble}
	for {
		n, from, err := conn.ReadFrom(buffer)
		switch {
		case err == nil:
			p.over()
			each(buffer[:n], from)
		case !p.take(err):
			return
		}
	}
}

const (
	firstPause = 5 * time.Millisecond
	// lastPause is short, since the end of the socket is noticed after it.
	lastPause = 200 * time.Millisecond
)

// pause is what follows a failure.
type pause struct {
	length  time.Duration
	trouble func(error)
}

// over notes that it works again.
func (p *pause) over() { p.length = 0 }

// take waits a moment, longer each time, unless the failure is the socket's end.
func (p *pause) take(err error) (goOn bool) {
	if errors.Is(err, net.ErrClosed) {
		return false
	}
	if p.length == 0 && p.trouble != nil {
		p.trouble(err)
	}
	p.length = min(max(firstPause, 2*p.length), lastPause)
	time.Sleep(p.length)
	return true
}
