// Package connlimit takes connections and packets from pods and other strangers, in bounded numbers, until the socket
// is closed:
//
//	limit := connlimit.NewLimit(256, 32) // in all, and of each address
//	connlimit.Connections(listener, func(conn net.Conn) {
//		leave, ok := limit.Enter(conn.RemoteAddr())
//		…
//	}, func(err error) { log.Warn("cannot take connections now", "error", err) })
//
// A process that is short of open files or of memory for a moment cannot accept. That passes, so no failure ends an
// intake: it pauses and goes on, as net/http does. Only the end of the socket ends it.
package connlimit
