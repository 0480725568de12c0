package dns

import (
	"encoding/binary"
	"net"
	"strings"

	"golang.org/x/net/dns/dnsmessage"
)

// FollowOutside has f called with each question for a name that is none of the cluster's, before it is answered. F
// returns at once, and is called before the server serves. The name is as the client sent it.
func (s *Server) FollowOutside(f func(client net.Addr, name string)) { s.outside = f }

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
const NoWay = "it is no name of this cluster, and pods have no way out of it"

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
