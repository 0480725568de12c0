package services

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"github.com/slipway-dev/slipway/cluster/hostaddress"
	"github.com/slipway-dev/slipway/cluster/internal/testlimit"
	"github.com/slipway-dev/slipway/cluster/network"
)

// loopback is a network of nodes: this machine's.
type loopback struct{ net.Dialer }

func (loopback) Listen(ctx context.Context, address string) (net.Listener, error) {
	return (&net.ListenConfig{}).Listen(ctx, "tcp4", address)
}

func (loopback) ListenPacket(ctx context.Context, address string) (net.PacketConn, error) {
	return (&net.ListenConfig{}).ListenPacket(ctx, "udp4", address)
}

// clusterIP is where the Service is: Linux has all of 127.0.0.0/8.
const clusterIP = "127.77.0.1"

// fixture is a proxy with one Service, over TCP and UDP, whose endpoints a test changes.
type fixture struct {
	*Proxy
	t               *testing.T
	objects, slices cache.Indexer
	port            int32
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	factory := informers.NewSharedInformerFactory(nil, 0)
	p, err := New(factory, Options{
		Dialer: &loopback{}, Inside: &loopback{}, Host: true, Range: hostaddress.Of(t.TempDir()), Real: func(netip.Addr) bool { return false }, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{Proxy: p, t: t, objects: factory.Core().V1().Services().Informer().GetIndexer(), slices: factory.Discovery().V1().EndpointSlices().Informer().GetIndexer(), port: freePort(t)}
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "web"}, Spec: corev1.ServiceSpec{
		ClusterIPs: []string{clusterIP}, Ports: []corev1.ServicePort{
			{Name: "http", Protocol: corev1.ProtocolTCP, Port: f.port}, {Name: "echo", Protocol: corev1.ProtocolUDP, Port: f.port},
		},
	}}
	if err := f.objects.Add(service); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.follow(context.Background(), nil)
		p.group.Wait()
	})
	return f
}

func freePort(t *testing.T) int32 {
	t.Helper()
	l, err := net.Listen("tcp4", clusterIP+":0")
	if err != nil {
		t.Skip(err) // not Linux
	}
	defer l.Close()
	return int32(l.Addr().(*net.TCPAddr).Port)
}

// lead has the Service lead to ports of addresses, and the proxy notice it.
func (f *fixture) lead(ready bool, http, echo int32, addresses ...string) {
	f.t.Helper()
	f.offer(ready, http, echo, addresses...)
	if !f.follow(f.t.Context(), f.wanted()) {
		f.t.Fatal("not all listeners are there")
	}
}

// offer has the Service lead to ports of addresses.
func (f *fixture) offer(ready bool, http, echo int32, addresses ...string) {
	f.t.Helper()
	httpName, echoName, udp := "http", "echo", corev1.ProtocolUDP
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "web-1", Labels: map[string]string{discoveryv1.LabelServiceName: "web"}},
		Ports:      []discoveryv1.EndpointPort{{Name: &httpName, Port: &http}, {Name: &echoName, Port: &echo, Protocol: &udp}},
	}
	for _, a := range addresses {
		slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{Addresses: []string{a}, Conditions: discoveryv1.EndpointConditions{Ready: &ready}})
	}
	if err := f.slices.Add(slice); err != nil {
		f.t.Fatal(err)
	}
}

// say sends a word to the Service and returns what comes back.
func (f *fixture) say(protocol string) (string, error) {
	conn, err := net.Dial(protocol, net.JoinHostPort(clusterIP, strconv.Itoa(int(f.port))))
	if err != nil {
		return "", err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(testlimit.Hang))
	if _, err := conn.Write([]byte("hello")); err != nil {
		return "", err
	}
	buffer := make([]byte, 5)
	_, err = io.ReadFull(conn, buffer)
	return string(buffer), err
}

// echo serves both protocols on this machine.
func echo(t *testing.T) (tcp, udp int32) {
	t.Helper()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	packets, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = listener.Close(), packets.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(conn, conn)
				_ = conn.Close()
			}()
		}
	}()
	go func() {
		buffer := make([]byte, 64)
		for {
			n, from, err := packets.ReadFrom(buffer)
			if err != nil {
				return
			}
			_, _ = packets.WriteTo(buffer[:n], from)
		}
	}()
	return int32(listener.Addr().(*net.TCPAddr).Port), int32(packets.LocalAddr().(*net.UDPAddr).Port)
}

// TestNobodyThereRefuses: a Service accepts as long as it leads somewhere, and refuses else, as `nc -z` of an init
// container counts on.
func TestNobodyThereRefuses(t *testing.T) {
	f := newFixture(t)
	http, udp := echo(t)
	refused := func(why string) {
		t.Helper()
		for _, protocol := range []string{"tcp", "udp"} {
			if got, err := f.say(protocol); !errors.Is(err, syscall.ECONNREFUSED) {
				t.Errorf("%s, %s: %q, %v", why, protocol, got, err)
			}
		}
	}
	f.lead(true, http, udp)
	refused("without endpoints")
	f.lead(false, http, udp, network.Host.String())
	refused("before an endpoint is ready")
	for range 2 {
		f.lead(true, http, udp, network.Host.String(), "10.128.0.1")
		for _, protocol := range []string{"tcp", "udp"} {
			if got, err := f.say(protocol); err != nil || got != "hello" {
				t.Errorf("%s: %q, %v", protocol, got, err)
			}
		}
		f.lead(false, http, udp, network.Host.String())
		refused("once no endpoint is ready any more")
	}
	f.lead(true, http, udp, "10.128.0.1")
	if got, err := f.say("udp"); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("with a simulated pod, udp: %q, %v", got, err)
	}
}

// TestOutsideIsAsked: no connection goes to an endpoint outside of the nodes' network that is refused, over TCP or UDP.
func TestOutsideIsAsked(t *testing.T) {
	f := newFixture(t)
	http, udp := echo(t)
	asked := make(chan netip.AddrPort, 8)
	f.options.Outside = func(client net.Addr, at netip.AddrPort) error {
		if client == nil {
			t.Error("asked without the client")
		}
		asked <- at
		return syscall.EACCES
	}
	f.lead(true, http, udp, network.Host.String())
	if got, err := f.say("tcp"); err == nil {
		t.Errorf("tcp: %q", got)
	}
	conn, err := net.Dial("udp", net.JoinHostPort(clusterIP, strconv.Itoa(int(f.port))))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	for _, port := range []int32{http, udp} {
		if at, want := <-asked, netip.AddrPortFrom(network.Host, uint16(port)); at != want {
			t.Errorf("asked for %v, want %v", at, want)
		}
	}
}

// TestFlowsHaveALimit: a client that comes from ever more ports of UDP gets answers, and has no more than its share.
func TestFlowsHaveALimit(t *testing.T) {
	f := newFixture(t)
	f.flows = newFlows(8, 4)
	http, udp := echo(t)
	f.lead(true, http, udp, network.Host.String())
	for i := range 40 {
		if got, err := f.say("udp"); err != nil || got != "hello" {
			t.Fatalf("client %d: %q, %v", i, got, err)
		}
		f.flows.mu.Lock()
		n := f.flows.order.Len()
		f.flows.mu.Unlock()
		if n > 4 {
			t.Fatalf("%d flows of one client", n)
		}
	}
	f.lead(true, http, udp)
	f.group.Wait() // nothing of a flow is left
	if n := len(f.flows.names) + len(f.flows.clients) + f.flows.order.Len(); n != 0 {
		t.Errorf("%d entries of flows are left", n)
	}
}

// TestFlowLeavesEndpoint: a client that keeps its port of UDP goes on with another endpoint once its own is not ready
// any more.
func TestFlowLeavesEndpoint(t *testing.T) {
	f := newFixture(t)
	http, udp := echo(t)
	f.lead(true, http, udp, network.Host.String())
	conn, err := net.Dial("udp", net.JoinHostPort(clusterIP, strconv.Itoa(int(f.port))))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(testlimit.Hang))
	from := func() netip.AddrPort {
		t.Helper()
		if _, err := conn.Write([]byte("hello")); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(conn, make([]byte, 5)); err != nil {
			t.Fatal(err)
		}
		f.flows.mu.Lock()
		defer f.flows.mu.Unlock()
		if n := len(f.flows.names); n != 1 {
			t.Fatalf("%d flows", n)
		}
		return f.flows.order.Back().Value.(*flow).endpoint
	}
	before := from()
	otherHTTP, otherUDP := echo(t)
	f.lead(true, otherHTTP, otherUDP, network.Host.String())
	if after := from(); after == before || after.Port() != uint16(otherUDP) {
		t.Errorf("the client goes on with %s, and its endpoint was %s", after, before)
	}
}

// TestOldestFlowEnds: what was used last stays.
func TestOldestFlowEnds(t *testing.T) {
	flows := newFlows(3, 2)
	made := map[string]*flow{}
	use := func(name string, host byte) (crowded bool) {
		if f := flows.find(flowName{client: name}); f != nil {
			return false
		}
		ours, theirs := net.Pipe()
		t.Cleanup(func() { _ = theirs.Close() })
		made[name] = &flow{name: flowName{client: name}, client: &net.UDPAddr{IP: net.IPv4(10, 0, 0, host)}, to: ours}
		return flows.add(made[name])
	}
	for i, step := range []struct {
		name    string
		host    byte
		crowded bool
		ended   string
	}{
		{"a1", 1, false, ""}, {"a2", 1, false, ""}, {"a1", 1, false, ""}, {"a3", 1, true, "a2"}, {"b1", 2, false, ""}, {"c1", 3, true, "a1"}, {"a3", 1, false, ""}, {"b2", 2, true, "b1"},
	} {
		if got := use(step.name, step.host); got != step.crowded {
			t.Errorf("step %d: crowded is %t", i, got)
		}
		if step.ended != "" && made[step.ended].inAll != nil {
			t.Errorf("step %d: %s goes on", i, step.ended)
		}
	}
	for _, f := range made {
		flows.remove(f)
	}
	if n := len(flows.names) + len(flows.clients) + flows.order.Len(); n != 0 {
		t.Errorf("%d entries are left", n)
	}
}

// TestShares: what pods connect to leaves files to the API server.
func TestShares(t *testing.T) {
	conns, packets, listeners := shares()
	if conns < fewest || conns > mostConns || packets < fewest || packets > mostFlows || listeners < fewest {
		t.Error(fmt.Sprint(conns, packets, listeners))
	}
}

// TestListenersHaveALimit: Services with more ports than there is room for leave the open files to others, and one that
// is listened for stays so.
func TestListenersHaveALimit(t *testing.T) {
	f := newFixture(t)
	f.maxListeners = 2
	wanted := map[key]target{}
	for range 4 {
		wanted[key{portOf(clusterIP, freePort(t)), corev1.ProtocolTCP, true}] = target{portName: portName{service: "many"}}
	}
	open := func() (all []key) {
		f.follow(t.Context(), wanted)
		for k := range wanted {
			if _, _, err := f.open.At(k); err == nil {
				all = append(all, k)
			} else if !errors.Is(err, errFull) {
				t.Error(err)
			}
		}
		return all
	}
	before := open()
	if len(before) != 2 {
		t.Fatalf("%d are open", len(before))
	}
	delete(wanted, before[0])
	if after := open(); len(after) != 2 || !slices.Contains(after, before[1]) {
		t.Errorf("after %v has gone, of %v, %v are open", before[0], before, after)
	}
}
