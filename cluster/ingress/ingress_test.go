package ingress

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/utils/ptr"

	"github.com/slipway-dev/slipway/cluster/hostaddress"
	"github.com/slipway-dev/slipway/cluster/internal/testlimit"
)

// programs are what Services lead to: an address for each namespace/name:port.
type programs map[string]string

// explained is an error that has text for a client.
type explained struct{ error }

func (explained) Page() string { return "a page that explains\n" }

func (p programs) DialService(ctx context.Context, namespace, service, port string) (net.Conn, error) {
	at, ok := p[namespace+"/"+service+":"+port]
	if !ok {
		return nil, explained{errors.New("nothing there")}
	}
	return (&net.Dialer{}).DialContext(ctx, "tcp", at)
}

// program serves HTTP on loopback and says who it is, and what it was asked; it takes upgrades, too.
func program(t *testing.T, name string) string {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	server := &http.Server{Protocols: &protocols, ReadHeaderTimeout: testlimit.Hang, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") == "" {
			fmt.Fprintf(w, "%s %s %s %s by %s for %s", name, r.Method, r.Host, r.URL.Path, r.Proto, r.Header.Get("X-Forwarded-Proto"))
			return
		}
		w.Header().Set("Connection", "Upgrade")
		w.Header().Set("Upgrade", "echo")
		w.WriteHeader(http.StatusSwitchingProtocols)
		conn, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = io.Copy(conn, buffered)
	})}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	return l.Addr().String()
}

// rule is one path of a host that leads to a Service's port 80.
func rule(host, path string, kind networkingv1.PathType, service string) networkingv1.IngressRule {
	return networkingv1.IngressRule{Host: host, IngressRuleValue: networkingv1.IngressRuleValue{HTTP: &networkingv1.HTTPIngressRuleValue{
		Paths: []networkingv1.HTTPIngressPath{{Path: path, PathType: &kind, Backend: to(service)}},
	}}}
}

func to(service string) networkingv1.IngressBackend {
	return networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: service, Port: networkingv1.ServiceBackendPort{Number: 80}}}
}

// front answers for Ingresses of a cluster, at the addresses that it returns, until the test ends.
func front(t *testing.T, backends programs, change func(informers.SharedInformerFactory), all ...*networkingv1.Ingress) (f *Front, plain, secure string) {
	t.Helper()
	addresses := hostaddress.Of(t.TempDir())
	wanted := []hostaddress.Port{{Protocol: corev1.ProtocolTCP, Number: HTTP}, {Protocol: corev1.ProtocolTCP, Number: HTTPS}}
	none := func(hostaddress.Port) bool { return false }
	ports, err := hostaddress.Ports(t.Context(), addresses.Ingress(), wanted, none, none)
	if err != nil {
		t.Fatal(err)
	}
	factory := informers.NewSharedInformerFactory(nil, 0)
	if f, err = New(factory, Options{Backends: backends, Range: addresses, Log: slog.New(slog.DiscardHandler)}); err != nil {
		t.Fatal(err)
	}
	change(factory)
	for _, i := range all {
		i.Status.LoadBalancer.Ingress = []networkingv1.IngressLoadBalancerIngress{{
			IP: addresses.Ingress().String(), Ports: []networkingv1.IngressPortStatus{{Port: ports[0]}, {Port: ports[1]}},
		}}
	}
	ctx, stop := context.WithCancel(context.Background())
	if !f.follow(ctx, all) {
		t.Fatal("not all listeners are there")
	}
	t.Cleanup(func() {
		stop()
		f.follow(ctx, nil)
		f.group.Wait()
	})
	at := func(port int32) string { return netip.AddrPortFrom(addresses.Ingress(), uint16(port)).String() }
	return f, at(ports[0]), at(ports[1])
}

// having adds Services ns/NAME with a port 80 that is called http, whose appProtocol is what stands behind a slash.
func having(t *testing.T, names ...string) func(informers.SharedInformerFactory) {
	return func(f informers.SharedInformerFactory) {
		t.Helper()
		for _, name := range names {
			name, protocol, _ := strings.Cut(name, "/")
			port := corev1.ServicePort{Name: "http", Port: 80, Protocol: corev1.ProtocolTCP}
			if protocol != "" {
				port.AppProtocol = ptr.To("kubernetes.io/" + protocol)
			}
			s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{port}}}
			if name == "elsewhere" {
				s.Spec.Type, s.Spec.ExternalName = corev1.ServiceTypeExternalName, "localhost"
			}
			if err := f.Core().V1().Services().Informer().GetIndexer().Add(s); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// ask asks a front for a host and a path.
func ask(t *testing.T, client *http.Client, url, host string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Host = host
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

func ingressOf(name string, rules ...networkingv1.IngressRule) *networkingv1.Ingress {
	return &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}, Spec: networkingv1.IngressSpec{Rules: rules}}
}

// TestRules: hosts and paths decide as the API says: the most specific host, then the longest path, an exact one
// first; prefixes by whole elements; then the default backend. What leads nowhere is answered with why.
func TestRules(t *testing.T) {
	backends := programs{}
	for _, name := range []string{"web", "api", "exact", "wild", "rest"} {
		backends["ns/"+name+":http"] = program(t, name)
	}
	const exact, prefix = networkingv1.PathTypeExact, networkingv1.PathTypePrefix
	i := ingressOf("all",
		rule("shop.test", "/", prefix, "web"), rule("shop.test", "/api/", prefix, "api"), rule("shop.test", "/api/v1", exact, "exact"),
		rule("*.shop.test", "/", networkingv1.PathTypeImplementationSpecific, "wild"), rule("only.test", "/api", prefix, "api"),
		rule("gone.test", "/", prefix, "absent"), rule("simulated.test", "/", prefix, "simulated"), rule("out.test", "/", prefix, "elsewhere"), rule("port.test", "/", prefix, "web"))
	i.Spec.Rules[8].HTTP.Paths[0].Backend.Service.Port.Number = 81
	i.Spec.DefaultBackend = ptr.To(to("rest"))
	f, at, _ := front(t, backends, having(t, "web", "api", "exact", "wild", "rest", "simulated", "elsewhere"), i)
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	for _, tt := range []struct {
		host, path, want string
		code             int
	}{
		{"shop.test", "/", "web GET shop.test / by HTTP/1.1 for http", 200},
		{"SHOP.test:8080", "/apis", "web ", 200},
		{"shop.test", "/api", "api ", 200},
		{"shop.test", "/api/v2", "api ", 200},
		{"shop.test", "/api/v1", "exact ", 200},
		{"shop.test", "/api/v1/", "api ", 200},
		{"a.shop.test", "/x", "wild ", 200},
		{"a.b.shop.test", "/x", "rest ", 200},
		{"only.test", "/other", "rest ", 200},
		{"other.test", "/", "rest ", 200},
		{"gone.test", "/", "a Service that does not exist", 502},
		{"simulated.test", "/", "a page that explains", 503},
		{"out.test", "/", "of the type ExternalName", 502},
		{"port.test", "/", "a TCP port that does not exist: 81 of", 502},
	} {
		code, got := ask(t, client, "http://"+at+tt.path, tt.host)
		if code != tt.code || !strings.Contains(got, tt.want) {
			t.Errorf("%s%s: %d %q, want %d %q", tt.host, tt.path, code, got, tt.code, tt.want)
		}
	}
	f.table.Store(newTable(nil))
	if code, got := ask(t, client, "http://"+at+"/", "shop.test"); code != http.StatusNotFound || !strings.Contains(got, "no Ingress has a rule") {
		t.Errorf("without rules: %d %q", code, got)
	}
}

// upgraded returns a connection that has been upgraded, and what its other side says on it.
func upgraded(t *testing.T, at string) (net.Conn, *bufio.Reader) {
	t.Helper()
	conn, err := net.Dial("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(testlimit.Hang))
	_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: web\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
	reader := bufio.NewReader(conn)
	response, err := http.ReadResponse(reader, nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close() // which has nothing
	if response.StatusCode != http.StatusSwitchingProtocols {
		t.Fatal(response.Status)
	}
	return conn, reader
}

// TestUpgrade: a connection that is upgraded, as one to WebSocket, goes both ways.
func TestUpgrade(t *testing.T) {
	_, at, _ := front(t, programs{"ns/web:http": program(t, "web")}, having(t, "web"), ingressOf("web", rule("", "/", networkingv1.PathTypePrefix, "web")))
	conn, reader := upgraded(t, at)
	_, _ = io.WriteString(conn, "there and back\n")
	if line, err := reader.ReadString('\n'); err != nil || line != "there and back\n" {
		t.Errorf("%q, %v", line, err)
	}
}

// certificate is a Secret with a certificate for a host.
func certificate(t *testing.T, name, host string) *corev1.Secret {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{host}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour)}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: "1", ResourceVersion: host}, Data: map[string][]byte{
		corev1.TLSCertKey:       pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}),
		corev1.TLSPrivateKeyKey: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}),
	}}
}

// TestTLS: the certificate is that of the Secret which an Ingress names for the host, also once the Secret changes;
// HTTP/2 is spoken with clients, and with a Service that asks for it. No certificate, no connection.
func TestTLS(t *testing.T) {
	i := ingressOf("web", rule("", "/", networkingv1.PathTypePrefix, "web"))
	i.Spec.TLS = []networkingv1.IngressTLS{{Hosts: []string{"Shop.test"}, SecretName: "one"}, {Hosts: []string{"bad.test"}, SecretName: "bad"}}
	var factory informers.SharedInformerFactory
	add := func(s *corev1.Secret) {
		t.Helper()
		if err := factory.Core().V1().Secrets().Informer().GetIndexer().Add(s); err != nil {
			t.Fatal(err)
		}
	}
	_, _, at := front(t, programs{"ns/web:http": program(t, "web")}, func(f informers.SharedInformerFactory) {
		factory = f
		having(t, "web/h2c")(f)
		add(certificate(t, "one", "shop.test"))
		add(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "bad"}})
	}, i)
	for _, version := range []string{"first", "second"} {
		transport := &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{ServerName: "shop.test", InsecureSkipVerify: true}}
		code, got := ask(t, &http.Client{Transport: transport}, "https://"+at+"/", "shop.test")
		transport.CloseIdleConnections()
		if want := "web GET shop.test / by HTTP/2.0 for https"; code != http.StatusOK || got != want {
			t.Errorf("%s: %d %q, want %q", version, code, got, want)
		}
		conn, err := tls.Dial("tcp", at, &tls.Config{ServerName: "shop.test", InsecureSkipVerify: true})
		if err != nil {
			t.Fatal(err)
		}
		s, err := factory.Core().V1().Secrets().Lister().Secrets("ns").Get("one")
		if err != nil {
			t.Fatal(err)
		}
		block, _ := pem.Decode(s.Data[corev1.TLSCertKey])
		if state := conn.ConnectionState(); string(state.PeerCertificates[0].Raw) != string(block.Bytes) || state.Version < tls.VersionTLS12 {
			t.Errorf("%s: another certificate", version)
		}
		_ = conn.Close()
		renewed := certificate(t, "one", "shop.test")
		renewed.ResourceVersion = "2"
		add(renewed)
	}
	for _, name := range []string{"bad.test", "other.test", ""} {
		if conn, err := tls.Dial("tcp", at, &tls.Config{ServerName: name, InsecureSkipVerify: true}); err == nil {
			_ = conn.Close()
			t.Errorf("%q is served", name)
		}
	}
}

// TestOwnDefault: what no path of a host takes goes to the default backend of the host's Ingress, and not to that of an
// older one.
func TestOwnDefault(t *testing.T) {
	older, own := ingressOf("older"), ingressOf("own", rule("shop.test", "/api", networkingv1.PathTypePrefix, "api"))
	own.CreationTimestamp = metav1.NewTime(time.Unix(1, 0))
	older.Spec.DefaultBackend, own.Spec.DefaultBackend = new(to("older")), new(to("own"))
	table := newTable([]*networkingv1.Ingress{own, older})
	for at, want := range map[[2]string]string{{"shop.test", "/api"}: "api", {"shop.test", "/"}: "own", {"other.test", "/"}: "older"} {
		if b, ok := table.find(at[0], at[1]); !ok || b.service != want {
			t.Errorf("%s leads to %q, want %q", at, b.service, want)
		}
	}
}

// TestHostsOfPorts: no two ways share a host, by which transports know connections.
func TestHostsOfPorts(t *testing.T) {
	seen := map[string]way{}
	for _, w := range []way{{"ns", "web", "", true}, {"ns", "web", "one", true}, {"ns", "web", "two", true}, {"web", "one", "", true}} {
		if other, ok := seen[w.host()]; ok {
			t.Errorf("%+v and %+v have the host %s", w, other, w.host())
		}
		seen[w.host()] = w
	}
}

// TestListensOnlyWhereAsked: a front listens at the address of its range alone, and at none when no Ingress has it.
func TestListensOnlyWhereAsked(t *testing.T) {
	i := ingressOf("web", rule("", "/", networkingv1.PathTypePrefix, "web"))
	f, at, _ := front(t, programs{}, func(factory informers.SharedInformerFactory) {
		if err := factory.Networking().V1().Ingresses().Informer().GetIndexer().Add(i); err != nil {
			t.Fatal(err)
		}
	}, i)
	if all := f.Addresses(); len(all) != 2 || all[0].URL != "http://"+at || all[0].Ingress != "web" || all[1].Port != HTTPS {
		t.Errorf("addresses %+v", all)
	}
	f.follow(t.Context(), nil)
	if conn, err := net.Dial("tcp", at); err == nil {
		_ = conn.Close()
		t.Errorf("%s is still listened to", at)
	}
	if f.options.Range.Shared() {
		return // any port of 127.0.0.1 is in the range
	}
	forged := ingressOf("forged")
	forged.Status.LoadBalancer.Ingress = append(forged.Status.LoadBalancer.Ingress,
		networkingv1.IngressLoadBalancerIngress{IP: "127.0.0.1", Ports: []networkingv1.IngressPortStatus{{Port: 8080}}},
		networkingv1.IngressLoadBalancerIngress{IP: "0.0.0.0", Ports: []networkingv1.IngressPortStatus{{Port: 8080}}},
		networkingv1.IngressLoadBalancerIngress{IP: f.options.Range.Ingress().String(), Ports: []networkingv1.IngressPortStatus{{Port: 22}, {Port: 8079}}},
		networkingv1.IngressLoadBalancerIngress{IP: "::ffff:" + f.options.Range.Ingress().String(), Ports: []networkingv1.IngressPortStatus{{Port: 8080}}},
		networkingv1.IngressLoadBalancerIngress{Hostname: "localhost"})
	if places := f.places(forged); len(places) != 0 {
		t.Errorf("it would listen at %v", places)
	}
}

// slow is a way to Services that ends with its context, and then only once it is let go.
type slow struct {
	dialed, free chan struct{}
	ended        atomic.Bool
}

func (s *slow) DialService(ctx context.Context, _, _, _ string) (net.Conn, error) {
	close(s.dialed)
	<-ctx.Done()
	<-s.free
	s.ended.Store(true)
	return nil, ctx.Err()
}

// TestEndsRequests: once a front has ended no request is passed on any more, unless that takes longer than it waits.
func TestEndsRequests(t *testing.T) {
	for name, tt := range map[string]struct {
		grace time.Duration
		ended bool
	}{
		"soon":     {grace: time.Minute, ended: true},
		"too late": {grace: time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			i := ingressOf("web", rule("", "/", networkingv1.PathTypePrefix, "web"))
			way := &slow{dialed: make(chan struct{}), free: make(chan struct{})}
			if tt.ended {
				close(way.free)
			} else {
				defer close(way.free)
			}
			f, at, _ := front(t, programs{}, func(factory informers.SharedInformerFactory) {
				having(t, "web")(factory)
				if err := factory.Networking().V1().Ingresses().Informer().GetIndexer().Add(i); err != nil {
					t.Fatal(err)
				}
			}, i)
			f.options.Backends, f.grace = way, tt.grace
			conn, err := net.Dial("tcp", at)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: web\r\n\r\n")
			<-way.dialed
			ctx, stop := context.WithCancel(t.Context())
			stop()
			f.Run(ctx)
			if way.ended.Load() != tt.ended {
				t.Errorf("ended: %t, want %t", !tt.ended, tt.ended)
			}
		})
	}
}

// TestTurns: the end waits for all that have a turn, and lets none follow.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		some, ended := make(turns, 2), make(chan bool, 1)
		if first, second, third := some.take(), some.take(), some.take(); !first || !second || third {
			t.Error("there are not two turns")
		}
		some.leave()
		go func() { ended <- some.end(t.Context()) }()
		synctest.Wait()
		if len(ended) > 0 || some.take() {
			t.Error("it has ended, or others follow, while one has a turn")
		}
		some.leave()
		if !<-ended || some.take() {
			t.Error("it has not ended, or others follow, once all have left")
		}
	})
}

// TestEndsUpgrades: a connection that was upgraded ends when its Ingress does.
func TestEndsUpgrades(t *testing.T) {
	f, at, _ := front(t, programs{"ns/web:http": program(t, "web")}, having(t, "web"), ingressOf("web", rule("", "/", networkingv1.PathTypePrefix, "web")))
	_, reader := upgraded(t, at)
	f.follow(t.Context(), nil)
	if _, err := reader.ReadByte(); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the connection ends with %v", err)
	}
}
