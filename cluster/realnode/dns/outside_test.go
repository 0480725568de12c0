package dns_test

import (
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/slipway-dev/slipway/cluster/realnode/dns"
)

// TestOutside: a question for a name outside of the cluster is answered with why there is none, to a client that takes
// that, and is reported with its client; a name that is misspelt within the cluster is not.
func TestOutside(t *testing.T) {
	s := families(t, slog.New(slog.DiscardHandler))
	var mu sync.Mutex
	var told []string
	s.FollowOutside(func(client net.Addr, name string) {
		mu.Lock()
		defer mu.Unlock()
		if client == nil {
			t.Errorf("the client of %s is not known", name)
		}
		told = append(told, name)
	})
	takes := func(m *dnsmessage.Message) {
		var h dnsmessage.ResourceHeader
		_ = h.SetEDNS0(1232, 0, false)
		m.Additionals = []dnsmessage.Resource{{Header: h, Body: &dnsmessage.OPTResource{}}}
	}
	for _, tt := range []struct {
		name string
		code dnsmessage.RCode
		ours bool
	}{
		{"example.com.", dnsmessage.RCodeNameError, false},
		{"Example.COM.", dnsmessage.RCodeNameError, false},
		{"example.com.ns.svc.cluster.local.", dnsmessage.RCodeNameError, true},
		{"absent.ns.svc.cluster.local.", dnsmessage.RCodeNameError, true},
		{"cluster.local.", dnsmessage.RCodeNameError, true},
		{"misspelt.", dnsmessage.RCodeNameError, true},
		{"both.ns.svc.cluster.local.", dnsmessage.RCodeSuccess, true},
	} {
		for _, extended := range []bool{false, true} {
			var change []func(*dnsmessage.Message)
			if extended {
				change = append(change, takes)
			}
			mu.Lock()
			told = nil
			mu.Unlock()
			m := ask(t, s, packet(t, tt.name, dnsmessage.TypeA, change...))
			why := explanation(m)
			if m.RCode != tt.code || (why != "") != (extended && !tt.ours) || why != "" && why != dns.NoWay {
				t.Errorf("%s, extended %t: %s, explained by %q", tt.name, extended, m.RCode, why)
			}
			mu.Lock()
			if (len(told) == 1) == tt.ours || slices.ContainsFunc(told, func(n string) bool { return !strings.EqualFold(n, "example.com.") }) {
				t.Errorf("%s: reported as %q", tt.name, told)
			}
			mu.Unlock()
		}
	}
}

// explanation is the text of a reply's extended error.
func explanation(m dnsmessage.Message) string {
	for _, r := range m.Additionals {
		if opt, ok := r.Body.(*dnsmessage.OPTResource); ok {
			for _, o := range opt.Options {
				if o.Code == 15 && len(o.Data) > 2 {
					return string(o.Data[2:])
				}
			}
		}
	}
	return ""
}
