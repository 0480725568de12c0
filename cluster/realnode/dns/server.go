package dns

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"time"

	"golang.org/x/net/dns/dnsmessage"
	"k8s.io/client-go/informers"
)

// Server answers questions.
type Server struct{ names names }

// New returns a server that knows the cluster from informers, which have not been started yet.
func New(f informers.SharedInformerFactory, domain string) *Server {
	return &Server{names{domain, f.Core().V1().Services().Lister(), f.Discovery().V1().EndpointSlices().Lister()}}
}

const (
	// ttl is how long an answer may be remembered, in seconds: little, since a Service that comes is waited for.
	ttl = 1
	// maxUDP is how long an answer in a packet may be; a client asks again over TCP.
	maxUDP = 1232
	// maxMessage is the longest message over TCP.
	maxMessage = 64 << 10
	// patience is how long a client of TCP may say nothing.
	patience = 30 * time.Second
)

// Serve answers packets until conn is closed.
func (s *Server) Serve(conn net.PacketConn) {
	buffer := make([]byte, maxMessage)
	for {
		n, client, err := conn.ReadFrom(buffer)
		if err != nil {
			return
		}
		if reply, err := s.answer(buffer[:n], maxUDP); err == nil {
			_, _ = conn.WriteTo(reply, client) // as lost as packets get
		}
	}
}

// ServeTCP answers connections until listener is closed.
func (s *Server) ServeTCP(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go s.serveConn(conn)
	}
}

func (s *Server) serveConn(conn net.Conn) {
	defer conn.Close()
	for {
		_ = conn.SetDeadline(time.Now().Add(patience))
		var size uint16
		if binary.Read(conn, binary.BigEndian, &size) != nil {
			return
		}
		question := make([]byte, size)
		if _, err := io.ReadFull(conn, question); err != nil {
			return
		}
		reply, err := s.answer(question, maxMessage-1)
		if err != nil {
			return
		}
		if _, err := conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply...)); err != nil {
			return
		}
	}
}

// answer answers a message, in at most so many bytes.
func (s *Server) answer(message []byte, limit int) ([]byte, error) {
	var parser dnsmessage.Parser
	header, err := parser.Start(message)
	if err != nil {
		return nil, fmt.Errorf("read a question: %w", err)
	}
	question, err := parser.Question()
	if err != nil {
		return nil, fmt.Errorf("read a question: %w", err)
	}
	reply := dnsmessage.Message{
		Header: dnsmessage.Header{
			ID: header.ID, Response: true, Authoritative: true, RecursionDesired: header.RecursionDesired, RecursionAvailable: true,
		},
		Questions: []dnsmessage.Question{question},
	}
	s.fill(&reply, question)
	packed, err := reply.Pack()
	if err == nil && len(packed) > limit {
		reply.Truncated, reply.Answers, reply.Additionals = true, nil, nil
		packed, err = reply.Pack()
	}
	return packed, err
}

// fill puts what is known into a reply.
func (s *Server) fill(reply *dnsmessage.Message, q dnsmessage.Question) {
	name := strings.TrimSuffix(strings.ToLower(q.Name.String()), ".")
	if q.Type == dnsmessage.TypePTR {
		s.fillReverse(reply, q, name)
		return
	}
	a := s.names.lookup(name)
	if !a.exists {
		reply.RCode = dnsmessage.RCodeNameError
		return
	}
	if a.alias != "" {
		if alias, err := dnsmessage.NewName(strings.TrimSuffix(a.alias, ".") + "."); err == nil {
			reply.Answers = append(reply.Answers, record(q.Name, &dnsmessage.CNAMEResource{CNAME: alias}))
			a, q.Name = s.names.lookup(a.alias), alias
		}
	}
	switch q.Type {
	case dnsmessage.TypeA:
		for _, ip := range a.addresses {
			reply.Answers = append(reply.Answers, record(q.Name, &dnsmessage.AResource{A: ip.As4()}))
		}
	case dnsmessage.TypeSRV:
		for _, server := range a.servers {
			fillServer(reply, q.Name, server)
		}
	}
}

func fillServer(reply *dnsmessage.Message, name dnsmessage.Name, s server) {
	at, err := dnsmessage.NewName(s.name + ".")
	if err != nil {
		return
	}
	const weight = 100
	reply.Answers = append(reply.Answers, record(name, &dnsmessage.SRVResource{Weight: weight, Port: s.port, Target: at}))
	reply.Additionals = append(reply.Additionals, record(at, &dnsmessage.AResource{A: s.ip.As4()}))
}

func (s *Server) fillReverse(reply *dnsmessage.Message, q dnsmessage.Question, name string) {
	found := ""
	if ip, ok := reversed(name); ok {
		found = s.names.reverse(ip)
	}
	to, err := dnsmessage.NewName(found + ".")
	if found == "" || err != nil {
		reply.RCode = dnsmessage.RCodeNameError
		return
	}
	reply.Answers = append(reply.Answers, record(q.Name, &dnsmessage.PTRResource{PTR: to}))
}

// reversed reads an address out of a name like 1.0.0.10.in-addr.arpa.
func reversed(name string) (netip.Addr, bool) {
	name, ok := strings.CutSuffix(name, ".in-addr.arpa")
	backward, err := netip.ParseAddr(name)
	if !ok || err != nil || !backward.Is4() {
		return netip.Addr{}, false
	}
	b := backward.As4()
	return netip.AddrFrom4([4]byte{b[3], b[2], b[1], b[0]}), true
}

func record(name dnsmessage.Name, body dnsmessage.ResourceBody) dnsmessage.Resource {
	return dnsmessage.Resource{Header: dnsmessage.ResourceHeader{Name: name, Class: dnsmessage.ClassINET, TTL: ttl}, Body: body}
}
