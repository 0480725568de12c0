package dns_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/slipway-dev/slipway/cluster/internal/testlimit"
	"github.com/slipway-dev/slipway/cluster/realnode/dns"
)

// lookup finds the name example.com, and none else; fails.example never answers in time.
func lookup(_ context.Context, name string) ([]netip.Addr, error) {
	switch strings.ToLower(name) {
	case "example.com.":
		return []netip.Addr{netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")}, nil
	case "inward.example.":
		return nil, nil
	case "fails.example.":
		return nil, &net.DNSError{Name: name, IsTimeout: true}
	case "broken.example.":
		return nil, errors.New("broken")
	}
	return nil, &net.DNSError{Name: name, IsNotFound: true}
}

// TestLookOutside: a name that is none of the cluster's is looked up, also as the target of a Service; others are not.
func TestLookOutside(t *testing.T) {
	s := families(t, slog.New(slog.DiscardHandler))
	s.FollowOutside(func(_ net.Addr, name string) { t.Errorf("%s is reported", name) })
	s.LookOutside(t.Context(), lookup)
	const a, aaaa = dnsmessage.TypeA, dnsmessage.TypeAAAA
	for _, tt := range []struct {
		name string
		kind dnsmessage.Type
		code dnsmessage.RCode
		want string
	}{
		{"example.com.", a, dnsmessage.RCodeSuccess, "[192.0.2.1 192.0.2.2]"},
		{"Example.COM.", a, dnsmessage.RCodeSuccess, "[192.0.2.1 192.0.2.2]"},
		{"example.com.", aaaa, dnsmessage.RCodeSuccess, "[]"},
		{"inward.example.", a, dnsmessage.RCodeSuccess, "[]"},
		{"example.com.", dnsmessage.TypeTXT, dnsmessage.RCodeNotImplemented, "[]"},
		{"absent.example.", a, dnsmessage.RCodeNameError, "[]"},
		{"absent.example.", aaaa, dnsmessage.RCodeNameError, "[]"},
		{"fails.example.", a, dnsmessage.RCodeServerFailure, "[]"},
		{"broken.example.", a, dnsmessage.RCodeServerFailure, "[]"},
		{"out.ns.svc.cluster.local.", a, dnsmessage.RCodeSuccess, "[example.com. 192.0.2.1 192.0.2.2]"},
		{"example.com.ns.svc.cluster.local.", a, dnsmessage.RCodeNameError, "[]"},
		{"misspelt.", a, dnsmessage.RCodeNameError, "[]"},
	} {
		m := ask(t, s, packet(t, tt.name, tt.kind))
		if got := fmt.Sprint(texts(m.Answers)); m.RCode != tt.code || got != tt.want {
			t.Errorf("%s %s: %s %s, want %s %s", tt.name, tt.kind, m.RCode, got, tt.code, tt.want)
		}
	}
}

// texts are what records say: addresses and other names.
func texts(records []dnsmessage.Resource) (all []string) {
	for _, r := range records {
		switch body := r.Body.(type) {
		case *dnsmessage.AResource:
			all = append(all, netip.AddrFrom4(body.A).String())
		case *dnsmessage.CNAMEResource:
			all = append(all, body.CNAME.String())
		}
	}
	return all
}

// TestSlowLookups: lookups delay no other answers, and one client has a share of those that are under way; more fail at
// once, those that are asked for over TCP as well. The server ends when they have.
func TestSlowLookups(t *testing.T) {
	s := families(t, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(t.Context())
	begun := make(chan struct{})
	s.LookOutside(ctx, func(ctx context.Context, _ string) ([]netip.Addr, error) {
		begun <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	})
	server, client := packetConn(t), packetConn(t)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.Serve(server)
	}()
	send := func(question []byte) {
		t.Helper()
		if _, err := client.WriteTo(question, server.LocalAddr()); err != nil {
			t.Fatal(err)
		}
	}
	for range dns.MostLookupsOfOne {
		send(packet(t, "slow.example.", dnsmessage.TypeA))
		<-begun
	}
	for _, tt := range []struct {
		name string
		code dnsmessage.RCode
	}{{"one-more.example.", dnsmessage.RCodeServerFailure}, {"both.ns.svc.cluster.local.", dnsmessage.RCodeSuccess}} {
		send(packet(t, tt.name, dnsmessage.TypeA))
		if m := receive(t, client); m.RCode != tt.code {
			t.Errorf("%s: %s", tt.name, m.RCode)
		}
	}
	if m := askTCP(t, s, packet(t, "one-more.example.", dnsmessage.TypeA)); m.RCode != dnsmessage.RCodeServerFailure {
		t.Errorf("one more over TCP: %s", m.RCode)
	}
	cancel()
	for range dns.MostLookupsOfOne {
		if m := receive(t, client); m.RCode != dnsmessage.RCodeServerFailure {
			t.Errorf("a lookup that was given up: %s", m.RCode)
		}
	}
	_ = server.Close()
	<-ended
}

// askTCP asks a server over TCP.
func askTCP(t *testing.T, s *dns.Server, question []byte) (m dnsmessage.Message) {
	t.Helper()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go s.ServeTCP(listener)
	conn, err := net.Dial("tcp4", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(testlimit.Hang))
	if _, err := conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(question))), question...)); err != nil {
		t.Fatal(err)
	}
	var size uint16
	if err := binary.Read(conn, binary.BigEndian, &size); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, size)
	_, err = io.ReadFull(conn, answer)
	if err := errors.Join(err, m.Unpack(answer)); err != nil {
		t.Fatal(err)
	}
	return m
}

func packetConn(t *testing.T) net.PacketConn {
	t.Helper()
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func receive(t *testing.T, conn net.PacketConn) (m dnsmessage.Message) {
	t.Helper()
	buffer := make([]byte, 1232)
	_ = conn.SetReadDeadline(time.Now().Add(testlimit.Hang))
	n, _, err := conn.ReadFrom(buffer)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Unpack(buffer[:n]); err != nil {
		t.Fatal(err)
	}
	return m
}
