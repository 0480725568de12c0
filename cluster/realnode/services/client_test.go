package services

import (
	"net"
	"net/netip"
	"strconv"
	"testing"

	"github.com/slipway-dev/slipway/cluster/network"
)

// TestServerSeesTheMachine: a connection to a Service comes from whoever passes it on, not from the client.
func TestServerSeesTheMachine(t *testing.T) {
	f := newFixture(t)
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	port := int32(listener.Addr().(*net.TCPAddr).Port)
	f.lead(true, port, port, network.Host.String())
	client := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(clusterIP)}}
	conn, err := client.Dial("tcp", net.JoinHostPort(clusterIP, strconv.Itoa(int(f.port))))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	served, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer served.Close()
	if from := served.RemoteAddr().(*net.TCPAddr).IP.String(); from == clusterIP {
		t.Errorf("the server sees the client, %s", from)
	}
}

// TestAffinity: a client stays with its endpoint as long as the endpoints stay, in whichever order they come.
func TestAffinity(t *testing.T) {
	a, b := netip.MustParseAddrPort("10.128.0.1:80"), netip.MustParseAddrPort("10.128.0.2:80")
	moved := 0
	for last := range byte(9) {
		client := &net.TCPAddr{IP: net.IPv4(10, 128, 1, last)}
		first := order([]netip.AddrPort{a, b}, target{affinity: true}, client)[0]
		if again := order([]netip.AddrPort{b, a}, target{affinity: true}, client)[0]; again != first {
			t.Errorf("client %s is at %s, then at %s", client, first, again)
		}
		c := netip.MustParseAddrPort("10.128.0.3:80")
		if order([]netip.AddrPort{a, b, c}, target{affinity: true}, client)[0] != first {
			moved++
		}
	}
	if moved == 0 {
		t.Error("no client moves when an endpoint comes")
	}
}
