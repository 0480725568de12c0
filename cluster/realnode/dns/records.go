package dns

import (
	"net/netip"
	"strings"

	"golang.org/x/net/dns/dnsmessage"
)

// fill adds the cluster's records to a reply. It returns the name that it could not resolve, which may be the target of
// an alias, or "".
func (s *Server) fill(reply *dnsmessage.Message, q dnsmessage.Question) (unknown string) {
	if q.Type == dnsmessage.TypePTR {
		s.fillReverse(reply, q)
		return ""
	}
	a := s.names.lookup(q.Name.String())
	if !a.exists {
		reply.RCode = dnsmessage.RCodeNameError
		return q.Name.String()
	}
	if a.alias != "" {
		if alias, err := dnsmessage.NewName(strings.TrimSuffix(a.alias, ".") + "."); err == nil {
			reply.Answers = append(reply.Answers, record(q.Name, dnsmessage.TypeCNAME, &dnsmessage.CNAMEResource{CNAME: alias}))
			a, q.Name = s.names.lookup(a.alias), alias
		}
	}
	switch q.Type {
	case dnsmessage.TypeA, dnsmessage.TypeAAAA:
		for _, ip := range a.addresses {
			if r := address(q.Name, ip); r.Header.Type == q.Type {
				reply.Answers = append(reply.Answers, r)
			}
		}
	case dnsmessage.TypeSRV:
		for _, server := range a.servers {
			fillServer(reply, q.Name, server)
		}
	}
	if !a.exists {
		return q.Name.String()
	}
	return ""
}

func fillServer(reply *dnsmessage.Message, name dnsmessage.Name, s server) {
	at, err := dnsmessage.NewName(s.name + ".")
	if err != nil {
		return
	}
	const weight = 100
	reply.Answers = append(reply.Answers, record(name, dnsmessage.TypeSRV, &dnsmessage.SRVResource{Weight: weight, Port: s.port, Target: at}))
	reply.Additionals = append(reply.Additionals, address(at, s.ip))
}

func (s *Server) fillReverse(reply *dnsmessage.Message, q dnsmessage.Question) {
	found := ""
	if ip, ok := reversed(strings.TrimSuffix(strings.ToLower(q.Name.String()), ".")); ok {
		found = s.names.reverse(ip)
	}
	to, err := dnsmessage.NewName(found + ".")
	if found == "" || err != nil {
		reply.RCode = dnsmessage.RCodeNameError
		return
	}
	reply.Answers = append(reply.Answers, record(q.Name, dnsmessage.TypePTR, &dnsmessage.PTRResource{PTR: to}))
}

// reversed parses a name like 1.0.0.10.in-addr.arpa.
func reversed(name string) (netip.Addr, bool) {
	name, ok := strings.CutSuffix(name, ".in-addr.arpa")
	backward, err := netip.ParseAddr(name)
	if !ok || err != nil || !backward.Is4() {
		return netip.Addr{}, false
	}
	b := backward.As4()
	return netip.AddrFrom4([4]byte{b[3], b[2], b[1], b[0]}), true
}

// address returns the A or AAAA record of an address.
func address(name dnsmessage.Name, ip netip.Addr) dnsmessage.Resource {
	if ip.Is4() {
		return record(name, dnsmessage.TypeA, &dnsmessage.AResource{A: ip.As4()})
	}
	return record(name, dnsmessage.TypeAAAA, &dnsmessage.AAAAResource{AAAA: ip.As16()})
}

func record(name dnsmessage.Name, kind dnsmessage.Type, body dnsmessage.ResourceBody) dnsmessage.Resource {
	return dnsmessage.Resource{Header: dnsmessage.ResourceHeader{Name: name, Type: kind, Class: dnsmessage.ClassINET, TTL: ttl}, Body: body}
}
