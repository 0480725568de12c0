package dns

import (
	"bytes"
	"encoding/binary"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"time"

	"k8s.io/client-go/informers"

	"github.com/slipway-dev/slipway/cluster/connlimit"
)

// Server answers questions.
type Server struct {
	names names
	log   *slog.Logger
	fault sync.Once // the first is logged

	outside func(client net.Addr, name string) // may be nil

	lookup  func(name string) ([]netip.Addr, error) // of the outside; may be nil
	lookups *connlimit.Limit                        // those under way
}

// New returns a server that knows the cluster from informers, which have not been started yet.
func New(f informers.SharedInformerFactory, domain string, log *slog.Logger) *Server {
	return &Server{names: names{domain, f.Core().V1().Services().Lister(), f.Discovery().V1().EndpointSlices().Lister()}, log: log}
}

const (
	// ttl is how long an answer may be remembered, in seconds: little, since a Service that comes is waited for.
	ttl = 1
	// maxQuestion is more than any question has: a name of 255 bytes, and a client's options.
	maxQuestion = 4 << 10
	// maxTCP is the longest message over TCP.
	maxTCP = 64<<10 - 1
	// patience is how long a client of TCP may say nothing.
	patience = 30 * time.Second
	// maxConns and maxConnsOfOne bound the clients of TCP at a time, and those of one pod.
	maxConns, maxConnsOfOne = 256, 32
)

// Serve answers packets, one after the other, until conn is closed, and returns when all answers are given. Those that
// take a lookup outside of the cluster do not delay others.
func (s *Server) Serve(conn net.PacketConn) {
	var group sync.WaitGroup
	defer group.Wait()
	connlimit.Packets(conn, make([]byte, maxQuestion), func(question []byte, client net.Addr) {
		reply, later := s.answer(question, roomFor(question), client, false)
		if later {
			s.answerLater(conn, question, client, &group)
			return
		}
		if reply != nil {
			_, _ = conn.WriteTo(reply, client) // as lost as packets get
		}
	}, s.trouble)
}

// answerLater answers a packet that takes a lookup, in group. One that is beyond the limit gets a failure, by
// which its client asks again.
func (s *Server) answerLater(conn net.PacketConn, question []byte, client net.Addr, group *sync.WaitGroup) {
	leave, ok := s.lookups.Enter(client)
	if !ok {
		_, _ = conn.WriteTo(failed(question), client)
		return
	}
	question = bytes.Clone(question)
	group.Go(func() {
		defer leave()
		if reply, _ := s.answer(question, roomFor(question), client, true); reply != nil {
			_, _ = conn.WriteTo(reply, client)
		}
	})
}

// ServeTCP answers connections until listener is closed.
func (s *Server) ServeTCP(listener net.Listener) {
	limit := connlimit.NewLimit(maxConns, maxConnsOfOne)
	connlimit.Connections(listener, func(conn net.Conn) {
		leave, ok := limit.Enter(conn.RemoteAddr())
		if !ok {
			_ = conn.Close()
			return
		}
		go func() {
			defer leave()
			s.serveConn(conn)
		}()
	}, s.trouble)
}

func (s *Server) trouble(err error) { s.log.Warn("DNS questions must wait", "error", err) }

func (s *Server) serveConn(conn net.Conn) {
	defer conn.Close()
	for {
		_ = conn.SetDeadline(time.Now().Add(patience))
		var size uint16
		if binary.Read(conn, binary.BigEndian, &size) != nil || size > maxQuestion {
			return
		}
		question := make([]byte, size)
		if _, err := io.ReadFull(conn, question); err != nil {
			return
		}
		reply, later := s.answer(question, maxTCP, conn.RemoteAddr(), false)
		if later {
			reply = s.lookedUp(question, conn.RemoteAddr())
		}
		if reply == nil {
			return
		}
		if _, err := conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply...)); err != nil {
			return
		}
	}
}

// lookedUp is the answer to a question over TCP that takes a lookup, within the limit that packets have, too.
func (s *Server) lookedUp(question []byte, client net.Addr) []byte {
	leave, ok := s.lookups.Enter(client)
	if !ok {
		return failed(question)
	}
	defer leave()
	reply, _ := s.answer(question, maxTCP, client, true)
	return reply
}
