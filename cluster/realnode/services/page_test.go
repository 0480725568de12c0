package services

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/slipway-dev/slipway/cluster/internal/testlimit"
	"github.com/slipway-dev/slipway/cluster/network"
)

// get asks an address by HTTP/1, without keeping the connection.
func get(t *testing.T, method, at string) (status int, page string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, "http://"+at+"/", strings.NewReader(strings.Repeat("x", 10_000)))
	if err != nil {
		t.Fatal(err)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

// TestSimulatedPodsSaySo: whose Service has simulated pods alone is answered with that, over HTTP/1; another protocol
// is reset at once. One real pod is enough for the Service to work.
func TestSimulatedPodsSaySo(t *testing.T) {
	f := newFixture(t)
	webPort, udp := echo(t)
	f.lead(true, webPort, udp, "10.128.0.1", "10.128.0.2")
	at := net.JoinHostPort(clusterIP, strconv.Itoa(int(f.port)))
	status, page := get(t, http.MethodPost, at)
	if status != http.StatusServiceUnavailable || !strings.Contains(page, "the pods of Service ns/web are simulated") || !strings.Contains(page, "slipway image load") {
		t.Errorf("%d\n%s", status, page)
	}
	if status, page := get(t, http.MethodHead, at); status != http.StatusServiceUnavailable || page != "" {
		t.Errorf("HEAD: %d %q", status, page)
	}
	for _, begin := range []string{"hello", "\x16\x03\x01", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"} {
		conn, err := net.Dial("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(testlimit.Hang))
		_, _ = io.WriteString(conn, begin)
		if got, err := io.ReadAll(conn); len(got) > 0 || err != nil && !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%q is answered with %q (%v)", begin, got, err)
		}
		_ = conn.Close()
	}
	f.lead(true, webPort, udp, "10.128.0.1", network.Host.String())
	if got, err := f.say("tcp"); err != nil || got != "hello" {
		t.Errorf("with a real pod: %q, %v", got, err)
	}
}

// TestPageNamesPods: a page names a few pods and never has what a terminal acts on.
func TestPageNamesPods(t *testing.T) {
	u := &Unreachable{Namespace: "shop", Service: "web", Simulated: []string{"a", "b\x1b[2J", "c", "d", "e", "f", "g"}}
	page := u.Page()
	if !strings.Contains(page, "pod shop/a is simulated") || !strings.Contains(page, "and 2 more") || strings.Contains(page, "\x1b") {
		t.Errorf("%q", page)
	}
	if page := (&Unreachable{Namespace: "shop", Service: "web"}).Page(); !strings.Contains(page, "no ready endpoints") || !strings.Contains(page, "get pods") {
		t.Errorf("%q", page)
	}
}

// balance has the Service be of the type LoadBalancer, with that status.
func (f *fixture) balance(t *testing.T, ingress ...corev1.LoadBalancerIngress) {
	t.Helper()
	s, err := f.Proxy.services.Services("ns").Get("web")
	if err != nil {
		t.Fatal(err)
	}
	s.Spec.Type, s.Status.LoadBalancer.Ingress = corev1.ServiceTypeLoadBalancer, ingress
}

// TestLoadBalancer: a Service of that type answers on this machine where its status says, if that is an address of
// the cluster's range and ports that stand for its own. A status that says anything else leads to no listener.
func TestLoadBalancer(t *testing.T) {
	f := newFixture(t)
	webPort, udp := echo(t)
	ip := f.options.Range.Services()[0]
	at := func(ip string, tcp, udp int32) corev1.LoadBalancerIngress {
		return corev1.LoadBalancerIngress{IP: ip, Ports: []corev1.PortStatus{{Port: tcp, Protocol: "TCP"}, {Port: udp, Protocol: "UDP"}}}
	}
	stand := f.port
	if stand+8000 < 1<<16 {
		stand += 8000
	}
	f.balance(t, at(ip.String(), stand, f.port), at("127.0.0.1", f.port, f.port), at(f.options.Range.Ingress().String(), f.port, f.port),
		at(ip.Next().String(), f.port+1, f.port-1), corev1.LoadBalancerIngress{IP: ip.Next().Next().String()}, corev1.LoadBalancerIngress{Hostname: "localhost"})
	f.lead(true, webPort, udp, network.Host.String())
	var hosts []string
	for k := range f.wanted() {
		if _, _, err := f.open.At(k); err == nil && k.host {
			hosts = append(hosts, k.address)
		}
	}
	slices.Sort(hosts)
	want := []string{netip.AddrPortFrom(ip, uint16(f.port)).String(), netip.AddrPortFrom(ip, uint16(stand)).String()}
	slices.Sort(want)
	if !slices.Equal(hosts, want) {
		t.Fatalf("this machine listens at %v, want %v", hosts, want)
	}
	conn, err := net.Dial("tcp", netip.AddrPortFrom(ip, uint16(stand)).String())
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(conn, "hello")
	buffer := make([]byte, 5)
	if _, err := io.ReadFull(conn, buffer); err != nil || string(buffer) != "hello" {
		t.Errorf("%q, %v", buffer, err)
	}
	_ = conn.Close()
	all := f.Addresses()
	if len(all) != 2 || all[0].Service != "web" || all[0].Port != f.port || all[0].Problem != nil {
		t.Errorf("addresses %+v", all)
	}
}

// TestAddresses: each port of a load balancer is listed with its protocol and with why it does not answer, for as long
// as that is so.
func TestAddresses(t *testing.T) {
	f := newFixture(t)
	http, udp := echo(t)
	at := f.options.Range.Services()[0].String()
	s, err := f.Proxy.services.Services("ns").Get("web")
	if err != nil {
		t.Fatal(err)
	}
	s.Spec.Ports = append(s.Spec.Ports, corev1.ServicePort{Name: "sctp", Protocol: corev1.ProtocolSCTP, Port: f.port})
	f.balance(t, corev1.LoadBalancerIngress{IP: at, Ports: []corev1.PortStatus{{Port: f.port}, {Port: f.port}, {Port: f.port}}})
	expect := func(sctp, tcp, udp error) {
		t.Helper()
		all := f.Addresses()
		if len(all) != 3 {
			t.Fatalf("addresses %+v", all)
		}
		for i, want := range []Address{{Protocol: "SCTP", Problem: sctp}, {Protocol: "TCP", Problem: tcp}, {Protocol: "UDP", Problem: udp}} {
			if all[i].Protocol != want.Protocol || all[i].At != portOf(at, f.port) || !errors.Is(all[i].Problem, want.Problem) {
				t.Errorf("%+v, want %+v", all[i], want)
			}
		}
	}
	f.lead(true, http, udp)
	expect(errProtocol, errNoEndpoints, errNoEndpoints)
	f.lead(true, http, udp, "10.128.0.7") // which is no real one's
	expect(errProtocol, nil, errSimulated)
	f.lead(true, http, udp, network.Host.String())
	expect(errProtocol, nil, nil)

	// Another program has the port meanwhile: that is said until the Service has no endpoints any more.
	f.lead(true, http, udp)
	other, err := net.Listen("tcp4", portOf(at, f.port))
	if err != nil {
		t.Fatal(err)
	}
	f.offer(true, http, udp, network.Host.String())
	if f.follow(t.Context(), f.wanted()) {
		t.Error("a port is listened to that another program has")
	}
	expect(errProtocol, syscall.EADDRINUSE, nil)
	f.lead(true, http, udp)
	expect(errProtocol, errNoEndpoints, errNoEndpoints)
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}

	// Another Service says that it has the address: by a status that was written by hand.
	forged := s.DeepCopy()
	forged.Name, forged.Spec.ClusterIPs = "zforged", nil
	if err := f.objects.Add(forged); err != nil {
		t.Fatal(err)
	}
	f.lead(true, http, udp, network.Host.String())
	if all := f.Addresses(); len(all) != 6 || all[4].Problem == nil || all[1].Problem != nil {
		t.Errorf("addresses %+v", all)
	}
}
