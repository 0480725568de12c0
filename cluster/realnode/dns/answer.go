package dns

import (
	"errors"
	"fmt"
	"net"
	"runtime/debug"
	"sort"

	"golang.org/x/net/dns/dnsmessage"
)

// answer answers a message, in at most so many bytes; nil where there is nothing to say. Pods send what they like, and
// the API server is in this process: a fault ends one answer, and the first is logged. An answer that takes a lookup
// outside of the cluster comes later, unless wait says to wait for it.
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

// failed says that a question has no answer because of a fault here.
func failed(message []byte) []byte {
	var parser dnsmessage.Parser
	header, err := parser.Start(message)
	if err != nil {
		return nil
	}
	return packed(&dnsmessage.Message{Header: to(header, dnsmessage.RCodeServerFailure)}, shortUDP)
}

// to is the header of a reply to a message with that header.
func to(h dnsmessage.Header, code dnsmessage.RCode) dnsmessage.Header {
	return dnsmessage.Header{
		ID: h.ID, OpCode: h.OpCode, Response: true, Authoritative: true, RecursionDesired: h.RecursionDesired, RecursionAvailable: true, RCode: code,
	}
}

// reply answers a message, and looks up a name outside of the cluster or reports that it was asked for.
func (s *Server) reply(message []byte, limit int, client net.Addr, wait bool) (text []byte, later bool) {
	var parser dnsmessage.Parser
	header, err := parser.Start(message)
	if err != nil || header.Response { // two servers that answer each other's answers would go on for good
		return nil, false
	}
	reply := &dnsmessage.Message{Header: to(header, dnsmessage.RCodeSuccess)}
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
		case !s.beyond(name):
		case s.lookup == nil:
			reply.Additionals = append(reply.Additionals, noWay(message)...)
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

// packed is a reply in at most so many bytes: one that is longer says so and has as many answers as there is room for,
// as some clients never ask over TCP. What comes besides answers is left out first.
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
	if err != nil { // a name that no message can hold
		reply.RCode, reply.Questions, reply.Answers, reply.Additionals = dnsmessage.RCodeServerFailure, nil, nil, nil
		text, _ = reply.Pack() // a header alone
	}
	return text
}

// shortened is a reply with as many of its answers as there is room for.
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
	// shortUDP is how long an answer in a packet may be for a client that does not say what it takes.
	shortUDP = 512
	// maxUDP is how long one may be at most, so that it is one packet everywhere; the client asks again over TCP.
	maxUDP = 1232
)

// roomFor is how long an answer in a packet may be for the client that sent a message.
func roomFor(message []byte) int {
	if size, ok := extended(message); ok {
		return min(max(shortUDP, size), maxUDP)
	}
	return shortUDP
}

// extended says whether the client that sent a message takes more than the first form of the protocol has, and how long
// its packets may be.
func extended(message []byte) (size int, ok bool) {
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
		if h.Type == dnsmessage.TypeOPT { // in which the class is a size
			return int(h.Class), true
		}
		if err := parser.SkipAdditional(); err != nil {
			return 0, false
		}
	}
}
