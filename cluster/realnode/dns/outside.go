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

// FollowOutside sets f, which receives the name of each question outside the cluster that is not looked up, as the
// client sent it. f must not block. FollowOutside must be called before the server serves.
func (s *Server) FollowOutside(f func(client net.Addr, name string)) { s.outside = f }

const (
	// lookupLimit bounds a lookup: clients ask again after five seconds.
	lookupLimit = 4 * time.Second
	// mostLookups bounds the lookups under way, given enough open files. mostLookupsOfOne bounds those of one pod, and
	// is the minimum of the limit for all.
	mostLookups, mostLookupsOfOne = 256, 32
	// A lookup takes two open files. All may take an eighth of the process's.
	filesOfLookup = 16
)

// shareOfLookups returns the limit of lookups, from the process's limit of open files.
func shareOfLookups() int {
	files, known := connlimit.OpenFiles()
	if !known {
		return mostLookups
	}
	return int(min(max(mostLookupsOfOne, files/filesOfLookup), mostLookups))
}

// LookOutside sets f, which looks up names outside the cluster until ctx ends. If a name does not exist, f returns a
// [net.DNSError] with IsNotFound. LookOutside must be called before the server serves.
func (s *Server) LookOutside(ctx context.Context, f func(ctx context.Context, name string) ([]netip.Addr, error)) {
	s.lookups = connlimit.NewLimit(shareOfLookups(), mostLookupsOfOne)
	s.lookup = func(name string) ([]netip.Addr, error) {
		ctx, cancel := context.WithTimeout(ctx, lookupLimit)
		defer cancel()
		return f(ctx, name)
	}
}

// fillOutside adds the addresses of an outside name to a reply. It looks the name up for either family, so that a
// client learns whether it exists.
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

// isOutside reports whether a name is outside the cluster: it has several labels and is not below the cluster's domain.
// A single label is more likely a misspelt Service.
func (s *Server) isOutside(name string) bool {
	name = strings.TrimSuffix(strings.ToLower(name), ".")
	return strings.Contains(name, ".") && name != s.names.domain && !strings.HasSuffix(name, "."+s.names.domain) && !strings.HasSuffix(name, ".arpa")
}

// The EDNS option of an extended error and its info code Blocked (RFC 8914).
const (
	extendedError = 15
	blocked       = 15
)

// NoWay is the reason why an outside name is not found.
const NoWay = "this cluster does not have that name, and its pods cannot reach the network"

// blockedError returns the extended error NoWay, or nothing for a client without EDNS.
func blockedError(question []byte) []dnsmessage.Resource {
	if _, ok := edns(question); !ok {
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
