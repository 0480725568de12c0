package connlimit

import (
	"context"
	"io"
	"net"
	"sync"
	"time"
)

// Join passes what comes from one connection on to the other, in both directions, until both have ended or ctx has. A
// connection that breaks off, and the end of ctx, resets both: the end of a direction means that all of it was sent. It
// leaves closing them to the caller.
func Join(ctx context.Context, one, other net.Conn) {
	stop := context.AfterFunc(ctx, func() { Reset(one); Reset(other) })
	defer stop()
	var halves, watches sync.WaitGroup
	for _, d := range []direction{{to: other, from: one}, {to: one, from: other}} {
		halves.Go(func() {
			if d.copy() {
				watches.Go(d.watch)
			}
		})
	}
	halves.Wait()
	for _, conn := range []net.Conn{one, other} {
		_ = conn.SetReadDeadline(past)
	}
	watches.Wait()
}

// past is a deadline that ends each wait now.
var past = time.Unix(1, 0)

// direction is one of the two that joined connections have.
type direction struct{ to, from net.Conn }

// copy passes the direction and its end on. It reports whether it ended in order.
func (d direction) copy() bool {
	if _, err := io.Copy(d.to, d.from); err != nil {
		Reset(d.to)
		Reset(d.from)
		return false
	}
	if c, ok := d.to.(interface{ CloseWrite() error }); ok {
		_ = c.CloseWrite()
	}
	return true
}

// watch ends the opposite direction when its receiver, which sends no more, is gone. That direction would notice only
// by sending. The other side may have nothing to send, and keep what the two connections cost for ever.
func (d direction) watch() {
	if conn, ok := d.from.(*net.TCPConn); ok {
		awaitGone(conn)
		_ = d.to.SetReadDeadline(past)
	}
}

// Reset ends a connection such that the client sees that it is refused.
func Reset(conn net.Conn) {
	if c, ok := conn.(*net.TCPConn); ok {
		_ = c.SetLinger(0)
	}
	_ = conn.Close()
}
