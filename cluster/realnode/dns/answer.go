package dns

import (
	"errors"
	"fmt"
	"net"
	"runtime/debug"
	"sort"

	"golang.org/x/net/dns/dnsmessage"
)

// answer returns the reply to a message, of at most limit bytes, or nil for none. Pods can send anything, and the API
// server is in this process: a panic ends one reply only, and the first is logged. If a reply needs a lookup outside
// the cluster and wait is false, answer returns later.
func (s *Server) answer(message []byte, limit int, client net.Addr, wait bool) (reply []byte, later bool) {
	defer func() {
		fault := recover()
		if fault == nil {
			return
		}
		s.fault.Do(func() {
			s.log.Error("answering a DNS question failed: this is a bug in slipway, please report it; later failures are not logged",
				"question", fmt.Sprintf("%x", message), "fault", fault, "stack", string(debug.Stack()))
		})
		reply, later = failed(message), false
	}()
	return s.reply(message, limit, client, wait)
}

// failed returns a SERVFAIL reply to a message.
func failed(message []byte) []byte {
	var parser dnsmessage.Parser
	header, err := parser.Start(message)
	if err != nil {
		return nil
	}
	return packed(&dnsmessage.Message{Header: replyHeader(header, dnsmessage.RCodeServerFailure)}, shortUDP)
}

// replyHeader returns the header of a reply to a message with the header h.
func replyHeader(h dnsmessage.Header, code dnsmessage.RCode) dnsmessage.Header {
	return dnsmessage.Header{
		ID: h.ID, OpCode: h.OpCode, Response: true, Authoritative: true, RecursionDesired: h.RecursionDesired, RecursionAvailable: true, RCode: code,
	}
}

// reply answers a message. For an outside name it looks the name up, or reports it to outside.
func (s *Server) reply(message []byte, limit int, client net.Addr, wait bool) (text []byte, later bool) {
	var parser dnsmessage.Parser
	header, err := parser.Start(message)
	if err != nil || header.Response { // else two servers could answer each other without end
		return nil, false
	}
	reply := &dnsmessage.Message{Header: replyHeader(header, dnsmessage.RCodeSuccess)}
	question, err := parser.Question()
	switch {
	case header.OpCode != 0:
		reply.RCode = dnsmessage.RCodeNotImplemented
	case err != nil:
		reply.RCode = dnsmessage.RCodeFormatError
	case question.Class != dnsmessage.ClassINET && question.Class != dnsmessage.ClassANY:
		reply.RCode = dnsmessage.RCodeRefused
	default:
		reply.Questions = []dnsmessage.Question{question}
		name := s.fill(reply, question)
		switch {
		case !s.isOutside(name):
		case s.lookup == nil:
			reply.Additionals = append(reply.Additionals, blockedError(message)...)
			if s.outside != nil {
				s.outside(client, name)
			}
		case !wait:
			return nil, true
		default:
			s.fillOutside(reply, question.Type, name)
		}
	}
	return packed(reply, limit), false
}

// packed returns a reply of at most limit bytes. To fit, it first drops the additional records. Then it sets the
// truncated bit and keeps as many answers as fit, because some clients never ask over TCP.
func packed(reply *dnsmessage.Message, limit int) []byte {
	text, err := reply.Pack()
	if err == nil && len(text) > limit {
		reply.Additionals = nil
		text, err = reply.Pack()
	}
	if err == nil && len(text) > limit {
		reply.Truncated = true
		text, err = shortened(reply, limit)
	}
	if err != nil { // a name that no message can contain
		reply.RCode, reply.Questions, reply.Answers, reply.Additionals = dnsmessage.RCodeServerFailure, nil, nil, nil
		text, _ = reply.Pack() // a header alone
	}
	return text
}

// shortened returns a reply with as many answers as fit.
func shortened(reply *dnsmessage.Message, limit int) (text []byte, err error) {
	all := reply.Answers
	with := func(n int) ([]byte, error) {
		reply.Answers = all[:n]
		return reply.Pack()
	}
	tooMany := sort.Search(len(all), func(n int) bool {
		longer, err := with(n + 1)
		return err != nil || len(longer) > limit
	})
	return with(tooMany)
}

const (
	// shortUDP is the limit of a UDP reply, in bytes, for a client without EDNS (RFC 1035).
	shortUDP = 512
	// maxUDP is the limit of every UDP reply: one packet on any network. Clients ask again over TCP.
	maxUDP = 1232
)

// udpLimit returns the limit of a UDP reply to a message.
func udpLimit(message []byte) int {
	if size, ok := edns(message); ok {
		return min(max(shortUDP, size), maxUDP)
	}
	return shortUDP
}

// edns reports whether a message has EDNS (RFC 6891), and the size of UDP replies that its client accepts.
func edns(message []byte) (size int, ok bool) {
	var parser dnsmessage.Parser
	if _, err := parser.Start(message); err != nil {
		return 0, false
	}
	if err := errors.Join(parser.SkipAllQuestions(), parser.SkipAllAnswers(), parser.SkipAllAuthorities()); err != nil {
		return 0, false
	}
	for {
		h, err := parser.AdditionalHeader()
		if err != nil {
			return 0, false
		}
		if h.Type == dnsmessage.TypeOPT { // its class is that size
			return int(h.Class), true
		}
		if err := parser.SkipAdditional(); err != nil {
			return 0, false
		}
	}
}
