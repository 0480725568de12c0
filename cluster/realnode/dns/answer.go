package dns

import (
	"fmt"
	"runtime/debug"

	"golang.org/x/net/dns/dnsmessage"
)

// answer answers a message, in at most so many bytes; nil where there is nothing to say. Pods send what they like, and the API server is in this
// process: a fault ends one answer, and is told once.
func (s *Server) answer(message []byte, limit int) (reply []byte) {
	defer func() {
		fault := recover()
		if fault == nil {
			return
		}
		s.fault.Do(func() {
			s.log.Error("a question for a name led to a fault of slipway's, which is told once: please report it",
				"question", fmt.Sprintf("%x", message), "fault", fault, "stack", string(debug.Stack()))
		})
		reply = failed(message)
	}()
	return s.reply(message, limit)
}

// failed says that a question has no answer because of a fault here.
func failed(message []byte) []byte {
	var parser dnsmessage.Parser
	header, err := parser.Start(message)
	if err != nil {
		return nil
	}
	return packed(&dnsmessage.Message{Header: to(header, dnsmessage.RCodeServerFailure)}, maxUDP)
}

// to is the header of a reply to a message with that header.
func to(h dnsmessage.Header, code dnsmessage.RCode) dnsmessage.Header {
	return dnsmessage.Header{
		ID: h.ID, OpCode: h.OpCode, Response: true, Authoritative: true, RecursionDesired: h.RecursionDesired, RecursionAvailable: true, RCode: code,
	}
}

func (s *Server) reply(message []byte, limit int) []byte {
	var parser dnsmessage.Parser
	header, err := parser.Start(message)
	if err != nil || header.Response { // two servers that answer each other's answers would go on for good
		return nil
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
		s.fill(reply, question)
	}
	return packed(reply, limit)
}

// packed is a reply in at most so many bytes: one that is longer says so and has no records.
func packed(reply *dnsmessage.Message, limit int) []byte {
	text, err := reply.Pack()
	if err == nil && len(text) > limit {
		reply.Truncated, reply.Answers, reply.Additionals = true, nil, nil
		text, err = reply.Pack()
	}
	if err != nil { // a name that no message can hold
		reply.RCode, reply.Questions, reply.Answers, reply.Additionals = dnsmessage.RCodeServerFailure, nil, nil, nil
		text, _ = reply.Pack() // a header alone
	}
	return text
}
