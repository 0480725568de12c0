package dns_test

import (
	"context"
	"log/slog"
	"net"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/utils/ptr"

	"github.com/slipway-dev/slipway/cluster/internal/testlimit"
	"github.com/slipway-dev/slipway/cluster/realnode/dns"
)

// resolver asks a server that knows two Services, over UDP or over TCP.
func resolver(t *testing.T) *net.Resolver {
	t.Helper()
	f := informers.NewSharedInformerFactory(nil, 0)
	services, slices := f.Core().V1().Services().Informer().GetIndexer(), f.Discovery().V1().EndpointSlices().Informer().GetIndexer()
	for _, s := range []*corev1.Service{
		{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "web"}, Spec: corev1.ServiceSpec{ClusterIP: "10.0.0.7", ClusterIPs: []string{"10.0.0.7"}, Ports: []corev1.ServicePort{{Name: "http", Protocol: "TCP", Port: 80}}}},
		{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "db"}, Spec: corev1.ServiceSpec{ClusterIP: "None", Ports: []corev1.ServicePort{{Name: "sql", Protocol: "TCP", Port: 5432}}}},
		{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "alias"}, Spec: corev1.ServiceSpec{Type: "ExternalName", ExternalName: "web.ns.svc.cluster.local"}},
	} {
		if err := services.Add(s); err != nil {
			t.Fatal(err)
		}
	}
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "db-1", Labels: map[string]string{discoveryv1.LabelServiceName: "db"}},
		Ports:      []discoveryv1.EndpointPort{{Name: ptr.To("sql"), Port: ptr.To(int32(5432))}},
	}
	for i := range 200 {
		slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{Addresses: []string{net.IPv4(10, 128, 0, byte(i+1)).String()}})
	}
	slice.Endpoints[0].Hostname = ptr.To("db-0")
	slice.Endpoints[1].Conditions.Ready = ptr.To(false)
	if err := slices.Add(slice); err != nil {
		t.Fatal(err)
	}
	return serve(t, dns.New(f, "cluster.local", slog.New(slog.DiscardHandler)))
}

func serve(t *testing.T, s *dns.Server) *net.Resolver {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	packets, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = packets.Close() })
	go s.Serve(packets)
	go s.ServeTCP(listener)
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		at := listener.Addr()
		if strings.HasPrefix(network, "udp") { // a port of its own: that of TCP may be another program's
			at = packets.LocalAddr()
		}
		return (&net.Dialer{}).DialContext(ctx, network, at.String())
	}}
}

func TestNames(t *testing.T) {
	r := resolver(t)
	ctx, cancel := context.WithTimeout(t.Context(), testlimit.Hang)
	defer cancel()
	for name, want := range map[string][]string{
		"web.ns.svc.cluster.local.":           {"10.0.0.7"},
		"WEB.ns.svc.Cluster.local.":           {"10.0.0.7"},
		"alias.ns.svc.cluster.local.":         {"10.0.0.7"},
		"db-0.db.ns.svc.cluster.local.":       {"10.128.0.1"},
		"10-128-0-9.ns.pod.cluster.local.":    {"10.128.0.9"},
		"10-128-0-9.db.ns.svc.cluster.local.": {"10.128.0.9"},
	} {
		if got, err := r.LookupHost(ctx, name); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s is %v (%v), want %v", name, got, err, want)
		}
	}
	for _, name := range []string{"none.ns.svc.cluster.local.", "web.other.svc.cluster.local.", "example.com.", "x.web.ns.svc.cluster.local."} {
		if got, err := r.LookupHost(ctx, name); err == nil {
			t.Errorf("%s is %v", name, got)
		}
	}
	if got, err := r.LookupHost(ctx, "db.ns.svc.cluster.local."); err != nil || len(got) != 199 {
		t.Errorf("a long answer has %d addresses (%v)", len(got), err)
	}
	if _, got, err := r.LookupSRV(ctx, "sql", "tcp", "db.ns.svc.cluster.local."); err != nil || len(got) != 199 || got[0].Port != 5432 {
		t.Errorf("%d servers (%v)", len(got), err)
	}
	if got, err := r.LookupAddr(ctx, "10.0.0.7"); err != nil || !slices.Equal(got, []string{"web.ns.svc.cluster.local."}) {
		t.Errorf("10.0.0.7 is called %v (%v)", got, err)
	}
}
