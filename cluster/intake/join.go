package intake

import (
	"context"
	"io"
	"net"
)

// Join passes what comes from one connection on to the other, in both directions, until both have ended or ctx has. A
// connection that breaks off, and the end of ctx, resets both: the end of a direction means that all of it was sent. It
// leaves closing them to the caller.
func Join(ctx context.Context, one, other net.Conn) {
	stop := context.AfterFunc(ctx, func() { Reset(one); Reset(other) })
	defer stop()
	done := make(chan struct{})
	go func() {
		defer close(done)
		copyHalf(other, one)
	}()
	copyHalf(one, other)
	<-done
}

// copyHalf copies one direction and passes its end on.
func copyHalf(to, from net.Conn) {
	if _, err := io.Copy(to, from); err != nil {
		Reset(to)
		Reset(from)
		return
	}
	if c, ok := to.(interface{ CloseWrite() error }); ok {
		_ = c.CloseWrite()
	}
}

// Reset ends a connection such that the client sees that it is refused.
func Reset(conn net.Conn) {
	if c, ok := conn.(*net.TCPConn); ok {
		_ = c.SetLinger(0)
	}
	_ = conn.Close()
}
