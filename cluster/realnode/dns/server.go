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

// Server answers DNS questions.
type Server struct {
	names names
	log   *slog.Logger
	fault sync.Once // only the first is logged

	outside func(client net.Addr, name string) // may be nil

	lookup  func(name string) ([]netip.Addr, error) // for outside names; may be nil
	lookups *connlimit.Limit                        // of lookups under way
}

// New returns a server that follows Services through the informers of f. They must not have started.
func New(f informers.SharedInformerFactory, domain string, log *slog.Logger) *Server {
	return &Server{names: names{domain, f.Core().V1().Services().Lister(), f.Discovery().V1().EndpointSlices().Lister()}, log: log}
}

const (
	// ttl is the time to live of records, in seconds. It is short because clients wait for new Services.
	ttl = 1
	// maxQuestion bounds a question, in bytes: a name has at most 255, and options follow.
	maxQuestion = 4 << 10
	// maxTCP is the largest message over TCP, in bytes.
	maxTCP = 64<<10 - 1
	// idleTimeout bounds the silence of a TCP client.
	idleTimeout = 30 * time.Second
	// maxConns bounds the TCP connections, and maxConnsOfOne those of one pod.
	maxConns, maxConnsOfOne = 256, 32
)

// Serve answers packets one by one until conn is closed, and returns when all replies are sent. Lookups outside the
// cluster do not delay other replies.
func (s *Server) Serve(conn net.PacketConn) {
	var group sync.WaitGroup
	defer group.Wait()
	connlimit.Packets(conn, make([]byte, maxQuestion), func(question []byte, client net.Addr) {
		reply, later := s.answer(question, udpLimit(question), client, false)
		if later {
			s.answerLater(conn, question, client, &group)
			return
		}
		if reply != nil {
			_, _ = conn.WriteTo(reply, client) // UDP packets may get lost
		}
	}, s.trouble)
}

// answerLater answers a packet that needs a lookup, in group. Above the limit it sends SERVFAIL, and the client asks
// again.
func (s *Server) answerLater(conn net.PacketConn, question []byte, client net.Addr, group *sync.WaitGroup) {
	leave, ok := s.lookups.Enter(client)
	if !ok {
		_, _ = conn.WriteTo(failed(question), client)
		return
	}
	question = bytes.Clone(question)
	group.Go(func() {
		defer leave()
		if reply, _ := s.answer(question, udpLimit(question), client, true); reply != nil {
			_, _ = conn.WriteTo(reply, client)
		}
	})
}

// ServeTCP answers questions over TCP until listener is closed.
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
		_ = conn.SetDeadline(time.Now().Add(idleTimeout))
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

// lookedUp answers a TCP question that needs a lookup, within the same limit as UDP questions.
func (s *Server) lookedUp(question []byte, client net.Addr) []byte {
	leave, ok := s.lookups.Enter(client)
	if !ok {
		return failed(question)
	}
	defer leave()
	reply, _ := s.answer(question, maxTCP, client, true)
	return reply
}
