package dns_test

import (
	"bytes"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/utils/ptr"

	"github.com/slipway-dev/slipway/cluster/internal/testlimit"
	"github.com/slipway-dev/slipway/cluster/realnode/dns"
)

// families is a server that knows a headless Service with endpoints of all kinds, and one whose address is of IPv6.
func families(t testing.TB, log *slog.Logger) *dns.Server {
	t.Helper()
	f := informers.NewSharedInformerFactory(nil, 0)
	services, slices := f.Core().V1().Services().Informer().GetIndexer(), f.Discovery().V1().EndpointSlices().Informer().GetIndexer()
	for _, s := range []*corev1.Service{
		{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "both"}, Spec: corev1.ServiceSpec{ClusterIP: "None", Ports: []corev1.ServicePort{{Name: "sql", Protocol: "TCP", Port: 5432}}}},
		{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "six"}, Spec: corev1.ServiceSpec{ClusterIP: "fd00::7", ClusterIPs: []string{"fd00::7"}, Ports: []corev1.ServicePort{{Name: "http", Protocol: "TCP", Port: 80}}}},
		{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "alias"}, Spec: corev1.ServiceSpec{Type: "ExternalName", ExternalName: "SIX.ns.svc.cluster.local."}},
		{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "out"}, Spec: corev1.ServiceSpec{Type: "ExternalName", ExternalName: "example.com"}},
	} {
		if err := services.Add(s); err != nil {
			t.Fatal(err)
		}
	}
	for name, addresses := range map[string][]string{
		"four": {"10.128.0.1"}, "six": {"fd00::1", "fd00::", "::ffff:10.128.0.2", "fe80::1%eth0"}, "fqdn": {"example.com"}, "none": nil,
	} {
		slice := &discoveryv1.EndpointSlice{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, Labels: map[string]string{discoveryv1.LabelServiceName: "both"}},
			Ports:      []discoveryv1.EndpointPort{{Name: ptr.To("sql"), Port: ptr.To(int32(5432))}},
			Endpoints:  []discoveryv1.Endpoint{{}},
		}
		for _, a := range addresses {
			slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{Addresses: []string{a}})
		}
		if err := slices.Add(slice); err != nil {
			t.Fatal(err)
		}
	}
	return dns.New(f, "cluster.local", log)
}

// packet is a question on its way.
func packet(t testing.TB, name string, kind dnsmessage.Type, change ...func(*dnsmessage.Message)) []byte {
	t.Helper()
	m := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: 7, RecursionDesired: true},
		Questions: []dnsmessage.Question{{Name: dnsmessage.MustNewName(name), Type: kind, Class: dnsmessage.ClassINET}},
	}
	for _, f := range change {
		f(&m)
	}
	packed, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	return packed
}

// ask sends packets from one socket and returns the answer to the last.
func ask(t *testing.T, s *dns.Server, packets ...[]byte) dnsmessage.Message {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		s.Serve(conn)
	}()
	defer func() {
		_ = conn.Close()
		<-served
	}()
	client, err := net.Dial("udp", conn.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for _, p := range packets {
		if _, err := client.Write(p); err != nil {
			t.Fatal(err)
		}
	}
	_ = client.SetReadDeadline(time.Now().Add(testlimit.Hang))
	buffer := make([]byte, 64<<10)
	n, err := client.Read(buffer)
	if err != nil {
		t.Fatal(err)
	}
	var m dnsmessage.Message
	if err := m.Unpack(buffer[:n]); err != nil {
		t.Fatal(err)
	}
	return m
}

func addresses(all []dnsmessage.Resource) (found []string) {
	for _, r := range all {
		switch b := r.Body.(type) {
		case *dnsmessage.AResource:
			found = append(found, netip.AddrFrom4(b.A).String())
		case *dnsmessage.AAAAResource:
			found = append(found, netip.AddrFrom16(b.AAAA).String())
		}
	}
	slices.Sort(found)
	return found
}

// TestFamilies: addresses of IPv6 are answered to whoever asks for them, and end nothing.
func TestFamilies(t *testing.T) {
	s := families(t, slog.New(slog.DiscardHandler))
	const four, six = dnsmessage.TypeA, dnsmessage.TypeAAAA
	for _, tt := range []struct {
		name string
		kind dnsmessage.Type
		want []string
		code dnsmessage.RCode
	}{
		{"::1.default.pod.cluster.local.", four, nil, 0},
		{"::1.default.pod.cluster.local.", six, []string{"::1"}, 0},
		{"fd00--9.ns.pod.cluster.local.", six, []string{"fd00::9"}, 0},
		{"1-2-3-4.ns.pod.cluster.local.", four, []string{"1.2.3.4"}, 0},
		{"1-2-3-4.ns.pod.cluster.local.", six, nil, 0},
		{"--ffff-102-304.ns.pod.cluster.local.", four, []string{"1.2.3.4"}, 0},
		{"fe80--1%eth0.ns.pod.cluster.local.", six, nil, dnsmessage.RCodeNameError},
		{"1-2-3.ns.pod.cluster.local.", four, nil, dnsmessage.RCodeNameError},
		{"both.ns.svc.cluster.local.", four, []string{"10.128.0.1", "10.128.0.2"}, 0},
		{"both.ns.svc.cluster.local.", six, []string{"fd00::", "fd00::1"}, 0},
		{"fd00--1.both.ns.svc.cluster.local.", six, []string{"fd00::1"}, 0},
		{"fd00--0.both.ns.svc.cluster.local.", six, []string{"fd00::"}, 0},
		{"six.ns.svc.cluster.local.", six, []string{"fd00::7"}, 0},
		{"six.ns.svc.cluster.local.", four, nil, 0},
		{"alias.ns.svc.cluster.local.", six, []string{"fd00::7"}, 0},
	} {
		m := ask(t, s, packet(t, tt.name, tt.kind))
		if got := addresses(m.Answers); !slices.Equal(got, tt.want) || m.RCode != tt.code {
			t.Errorf("%s %s is %v (%s), want %v (%s)", tt.kind, tt.name, got, m.RCode, tt.want, tt.code)
		}
	}
	m := ask(t, s, packet(t, "_sql._tcp.both.ns.svc.cluster.local.", dnsmessage.TypeSRV))
	if got := addresses(m.Additionals); len(m.Answers) != 4 || !slices.Equal(got, []string{"10.128.0.1", "10.128.0.2", "fd00::", "fd00::1"}) {
		t.Errorf("the servers are at %v, in %d answers", got, len(m.Answers))
	}
}

// TestStrangePackets: what is no question is answered with why or, where an answer would be one to an answer, not at
// all.
func TestStrangePackets(t *testing.T) {
	s := families(t, slog.New(slog.DiscardHandler))
	const name = "six.ns.svc.cluster.local."
	good := packet(t, name, dnsmessage.TypeAAAA)
	for why, tt := range map[string]struct {
		packets [][]byte
		want    dnsmessage.RCode
	}{
		"an answer":        {[][]byte{packet(t, name, dnsmessage.TypeAAAA, func(m *dnsmessage.Message) { m.Response, m.ID = true, 9 }), good}, dnsmessage.RCodeSuccess},
		"nothing":          {[][]byte{{}, {0}, good}, dnsmessage.RCodeSuccess},
		"another class":    {[][]byte{packet(t, name, dnsmessage.TypeAAAA, func(m *dnsmessage.Message) { m.Questions[0].Class = dnsmessage.ClassCHAOS })}, dnsmessage.RCodeRefused},
		"an update":        {[][]byte{packet(t, name, dnsmessage.TypeAAAA, func(m *dnsmessage.Message) { m.OpCode = 5 })}, dnsmessage.RCodeNotImplemented},
		"no question":      {[][]byte{packet(t, name, dnsmessage.TypeAAAA, func(m *dnsmessage.Message) { m.Questions = nil })}, dnsmessage.RCodeFormatError},
		"half a question":  {[][]byte{good[:20]}, dnsmessage.RCodeFormatError},
		"more than enough": {[][]byte{append(slices.Clone(good), make([]byte, 60000)...)}, dnsmessage.RCodeSuccess},
	} {
		if m := ask(t, s, tt.packets...); m.ID != 7 || m.RCode != tt.want || !m.Response {
			t.Errorf("%s: the answer to %d is %s, want %s", why, m.ID, m.RCode, tt.want)
		}
	}
}

// TestLongAnswers: an answer in a packet is as long as the client says that it may be, has what there is room for, and
// says that there is more.
func TestLongAnswers(t *testing.T) {
	f := informers.NewSharedInformerFactory(nil, 0)
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "many"}, Spec: corev1.ServiceSpec{ClusterIP: "None"}}
	slice := &discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "many", Labels: map[string]string{discoveryv1.LabelServiceName: "many"}}}
	for i := range byte(60) {
		slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{Addresses: []string{netip.AddrFrom4([4]byte{10, 128, 0, i}).String()}})
	}
	if err := errors.Join(f.Core().V1().Services().Informer().GetIndexer().Add(service), f.Discovery().V1().EndpointSlices().Informer().GetIndexer().Add(slice)); err != nil {
		t.Fatal(err)
	}
	s := dns.New(f, "cluster.local", slog.New(slog.DiscardHandler))
	const head, each = 12 + 27 + 4, 16 // the name once, and each time where that is
	for _, tt := range []struct{ takes, answers int }{{0, (512 - head) / each}, {100, (512 - head) / each}, {900, (900 - head) / each}, {4096, 60}} {
		question := packet(t, "many.ns.svc.cluster.local.", dnsmessage.TypeA, func(m *dnsmessage.Message) {
			if tt.takes > 0 {
				var h dnsmessage.ResourceHeader
				_ = h.SetEDNS0(tt.takes, 0, false) // a root that is the empty name
				m.Additionals = []dnsmessage.Resource{{Header: h, Body: &dnsmessage.OPTResource{}}}
			}
		})
		if m := ask(t, s, question); len(m.Answers) != tt.answers || m.Truncated != (tt.answers < 60) {
			t.Errorf("a client that takes %d bytes gets %d answers, cut off %t; want %d", tt.takes, len(m.Answers), m.Truncated, tt.answers)
		}
	}
}

// TestFaultIsOneAnswers: what goes wrong with one question is told once, and the next ones are answered.
func TestFaultIsOneAnswers(t *testing.T) {
	var log bytes.Buffer
	s := dns.Broken(slog.New(slog.NewTextHandler(&log, nil)))
	question := packet(t, "web.ns.svc.cluster.local.", dnsmessage.TypeA)
	for range 3 {
		if m := ask(t, s, question); m.RCode != dnsmessage.RCodeServerFailure || m.ID != 7 {
			t.Errorf("the answer to %d is %s", m.ID, m.RCode)
		}
	}
	if n := strings.Count(log.String(), "level=ERROR"); n != 1 || !strings.Contains(log.String(), "names.go") {
		t.Errorf("%d faults are told:\n%s", n, log.String())
	}
}

// FuzzPacket: no packet is answered with a fault, or with what is no answer to it.
func FuzzPacket(f *testing.F) {
	s := families(f, slog.New(slog.DiscardHandler))
	for _, name := range []string{
		"::1.default.pod.cluster.local.", "fd00--1.both.ns.svc.cluster.local.", "both.ns.svc.cluster.local.", "_sql._tcp.both.ns.svc.cluster.local.",
		"alias.ns.svc.cluster.local.", "7.0.0.10.in-addr.arpa.", "fe80--1%eth0.ns.pod.cluster.local.", ".",
	} {
		for _, kind := range []dnsmessage.Type{dnsmessage.TypeA, dnsmessage.TypeAAAA, dnsmessage.TypeSRV, dnsmessage.TypePTR} {
			f.Add(packet(f, name, kind), uint16(1232))
		}
	}
	f.Add([]byte{}, uint16(0))
	f.Fuzz(func(t *testing.T, question []byte, limit uint16) {
		reply := dns.Reply(s, question, int(limit))
		if reply == nil {
			return
		}
		var m dnsmessage.Message
		if err := m.Unpack(reply); err != nil {
			t.Fatalf("%x is answered with what nobody can read, %x: %v", question, reply, err)
		}
		if !m.Response || reply[0] != question[0] || reply[1] != question[1] {
			t.Errorf("%x is no answer to %x", reply, question)
		}
		if len(reply) > int(limit) && (len(m.Answers) > 0 || len(m.Additionals) > 0) {
			t.Errorf("an answer of %d bytes has more than %d", len(reply), limit)
		}
	})
}
