package dns

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"strings"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/slipway-dev/slipway/cluster/connlimit"
)

// FollowOutside has f called with each question for a name that is none of the cluster's, before it is answered. F
// returns at once, and is called before the server serves. The name is as the client sent it.
func (s *Server) FollowOutside(f func(client net.Addr, name string)) { s.outside = f }

const (
	// lookupLimit bounds a lookup: clients ask again after five seconds.
	lookupLimit = 4 * time.Second
	// mostLookups is how many lookups there are at a time on a machine with open files enough, mostLookupsOfOne those
	// of one pod. They are possible on any.
	mostLookups, mostLookupsOfOne = 256, 32
	// A lookup takes two open files; an eighth of all may go to these.
	filesOfLookup = 16
)

// shareOfLookups is how many lookups the process's open files are enough for.
func shareOfLookups() int {
	files, known := connlimit.OpenFiles()
	if !known {
		return mostLookups
	}
	return int(min(max(mostLookupsOfOne, files/filesOfLookup), mostLookups))
}

// LookOutside has f look up the addresses of names that are none of the cluster's, until ctx ends. It is called before
// the server serves. An error of f that is a [net.DNSError] may say by IsNotFound that there is no such name.
func (s *Server) LookOutside(ctx context.Context, f func(ctx context.Context, name string) ([]netip.Addr, error)) {
	s.lookups = connlimit.NewLimit(shareOfLookups(), mostLookupsOfOne)
	s.lookup = func(name string) ([]netip.Addr, error) {
		ctx, cancel := context.WithTimeout(ctx, lookupLimit)
		defer cancel()
		return f(ctx, name)
	}
}

// fillOutside puts the addresses of a name into a reply. A name is looked up also for a client that asks for addresses
// of the other family, so that it hears whether there is one.
func (s *Server) fillOutside(reply *dnsmessage.Message, kind dnsmessage.Type, text string) {
	reply.Authoritative = false
	name, err := dnsmessage.NewName(strings.TrimSuffix(text, ".") + ".")
	if err != nil || kind != dnsmessage.TypeA && kind != dnsmessage.TypeAAAA {
		reply.RCode = dnsmessage.RCodeNotImplemented
		return
	}
	found, err := s.lookup(name.String())
	reason, known := errors.AsType[*net.DNSError](err)
	switch {
	case known && reason.IsNotFound:
		reply.RCode = dnsmessage.RCodeNameError
		return
	case err != nil:
		reply.RCode = dnsmessage.RCodeServerFailure
		return
	}
	reply.RCode = dnsmessage.RCodeSuccess
	for _, ip := range found {
		if r := address(name, ip); r.Header.Type == kind {
			reply.Answers = append(reply.Answers, r)
		}
	}
}

// beyond says whether a name is meant for the outside: one of several labels, and not below the cluster's domain. A
// name of one label is more likely a Service that is misspelt.
func (s *Server) beyond(name string) bool {
	name = strings.TrimSuffix(strings.ToLower(name), ".")
	return strings.Contains(name, ".") && name != s.names.domain && !strings.HasSuffix(name, "."+s.names.domain) && !strings.HasSuffix(name, ".arpa")
}

// The option of an answer that says why it is what it is (RFC 8914), and its code for what the server's settings
// forbid.
const (
	extendedError = 15
	blocked       = 15
)

// NoWay is why a name outside of the cluster is not found.
const NoWay = "this cluster does not have that name, and its pods cannot reach the network"

// noWay says why there is no answer, to a client that understands such a thing.
func noWay(question []byte) []dnsmessage.Resource {
	if _, ok := extended(question); !ok {
		return nil
	}
	var h dnsmessage.ResourceHeader
	if err := h.SetEDNS0(maxUDP, dnsmessage.RCodeSuccess, false); err != nil {
		return nil
	}
	h.Name = dnsmessage.MustNewName(".")
	data := append(binary.BigEndian.AppendUint16(nil, blocked), NoWay...)
	return []dnsmessage.Resource{{Header: h, Body: &dnsmessage.OPTResource{Options: []dnsmessage.Option{{Code: extendedError, Data: data}}}}}
}
