package hostaddress_test

import (
	"errors"
	"net"
	"net/netip"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/slipway-dev/slipway/cluster/hostaddress"
)

func none(hostaddress.Port) bool { return false }

// TestRange: the range of a folder is always the same, lies in loopback, and has an address for Ingresses alone.
func TestRange(t *testing.T) {
	r := hostaddress.Of("/state/a")
	if r != hostaddress.Of("/state/a") {
		t.Error("the range of a folder changes")
	}
	if r.Empty() || !(hostaddress.Range{}).Empty() {
		t.Error("the wrong range is empty")
	}
	all := r.Services()
	if len(all) == 0 {
		t.Fatal("no addresses for Services")
	}
	for _, ip := range append(slices.Clone(all), r.Ingress()) {
		if !hostaddress.Local(ip) || !r.Contains(ip) {
			t.Errorf("%s is not in the range, or none of loopback", ip)
		}
	}
	if !r.Shared() && (slices.Contains(all, r.Ingress()) || len(all) != 253 || r == hostaddress.Of("/state/b")) {
		t.Errorf("%d addresses for Services from %s, that of Ingresses is %s", len(all), all[0], r.Ingress())
	}
}

// TestPorts: a port that is taken is stood in for by one that is not, also by none that another port of the same
// Service wants.
func TestPorts(t *testing.T) {
	ip := hostaddress.Of(t.TempDir()).Services()[0]
	busy, err := net.Listen("tcp4", netip.AddrPortFrom(ip, 0).String())
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	port := int32(busy.Addr().(*net.TCPAddr).Port)
	for port+3*8000 > 65535 { // room for those that stand in
		port -= 8000
	}
	tcp := func(n int32) hostaddress.Port { return hostaddress.Port{Protocol: corev1.ProtocolTCP, Number: n} }
	held := func(p hostaddress.Port) bool { return p == tcp(port) }
	got, err := hostaddress.Ports(t.Context(), ip, []hostaddress.Port{tcp(port), tcp(port + 8000), {Protocol: corev1.ProtocolUDP, Number: port}}, held, none)
	if err != nil || len(got) != 3 || got[0] == port || got[0] == got[1] || got[2] != port {
		t.Fatalf("ports %v of %d (%v)", got, port, err)
	}
	for i, wanted := range []int32{port, port + 8000, port} {
		if !hostaddress.StandsFor(wanted, got[i]) {
			t.Errorf("%d does not stand for %d", got[i], wanted)
		}
	}
	if hostaddress.StandsFor(8080, 80) || hostaddress.StandsFor(80, 81) || !hostaddress.StandsFor(80, 8080) {
		t.Error("wrong ports stand in for others")
	}
	_, err = hostaddress.Ports(t.Context(), ip, []hostaddress.Port{tcp(port)}, func(hostaddress.Port) bool { return true }, none)
	if !errors.Is(err, hostaddress.ErrNoPort) {
		t.Errorf("without any port: %v", err)
	}
}

// TestPortsTaken: a port that another program listens to is not chosen.
func TestPortsTaken(t *testing.T) {
	ip := hostaddress.Of(t.TempDir()).Services()[0]
	for {
		busy, err := net.Listen("tcp4", netip.AddrPortFrom(ip, 0).String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = busy.Close() })
		port := int32(busy.Addr().(*net.TCPAddr).Port)
		if port+8000 > 65535 {
			continue
		}
		got, err := hostaddress.Ports(t.Context(), ip, []hostaddress.Port{{Protocol: corev1.ProtocolTCP, Number: port}}, none, none)
		if err != nil || got[0] == port {
			t.Errorf("port %v is chosen for %d, which is busy (%v)", got, port, err)
		}
		own := func(p hostaddress.Port) bool { return p.Number == port }
		got, err = hostaddress.Ports(t.Context(), ip, []hostaddress.Port{{Protocol: corev1.ProtocolTCP, Number: port}}, none, own)
		if err != nil || got[0] != port {
			t.Errorf("port %v is chosen for %d, which is listened to already (%v)", got, port, err)
		}
		return
	}
}
