package network_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/utils/ptr"

	"github.com/slipway-dev/slipway/cluster/network"
)

const clusterIP = "10.0.0.7"

func TestServiceLeadsToThisMachine(t *testing.T) {
	_, port := listen(t, "127.0.0.1:0")
	for name, slices := range map[string][]*discoveryv1.EndpointSlice{
		"this machine":                  {slice("a", network.Host.String(), port)},
		"this machine before others":    {slice("a", "10.128.0.1", port), slice("b", network.Host.String(), port)},
		"what is not ready is left out": {notReady(slice("a", "192.0.2.1", port)), slice("b", network.Host.String(), port)},
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := dialer(t, slices...).Dial(t.Context(), "tcp", clusterIP+":443")
			if err != nil {
				t.Fatal(err)
			}
			_ = conn.Close()
		})
	}
}

func TestDialSaysWhatHelps(t *testing.T) {
	listener, port := listen(t, "127.0.0.1:0")
	_ = listener.Close() // nobody listens there now
	for _, test := range []struct {
		name, address, want string
		slices              []*discoveryv1.EndpointSlice
		simulated           bool
	}{
		{name: "no endpoints", address: clusterIP + ":443", want: "Service ns/hook has no ready endpoints"},
		{
			name: "a simulated endpoint", address: clusterIP + ":443", want: "leads to 10.128.0.1", simulated: true,
			slices: []*discoveryv1.EndpointSlice{slice("a", "10.128.0.1", port)},
		},
		{
			name: "a program that does not run", address: clusterIP + ":443", want: "does the program run",
			slices: []*discoveryv1.EndpointSlice{slice("a", network.Host.String(), port)},
		},
		{name: "another port", address: clusterIP + ":444", want: "no port 444"},
		{name: "a pod", address: "10.128.0.1:80", want: "10.128.0.1", simulated: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := dialer(t, test.slices...).Dial(t.Context(), "tcp", test.address)
			if err == nil || !strings.Contains(err.Error(), test.want) || errors.Is(err, network.ErrSimulated) != test.simulated {
				t.Errorf("error %v, want one that says %q", err, test.want)
			}
		})
	}
}

func TestKubeletsOfSimulatedNodesOnly(t *testing.T) {
	_, port := listen(t, "127.0.0.1:0")
	d := dialer(t)
	if _, err := d.Kubelet(t.Context(), "tcp", "10.127.0.1:10250"); !errors.Is(err, errKubelet) {
		t.Errorf("a simulated node: %v", err)
	}
	conn, err := d.Kubelet(t.Context(), "tcp", net.JoinHostPort("127.0.0.1", port))
	if err != nil {
		t.Fatalf("a real node: %v", err)
	}
	_ = conn.Close()
}

var errKubelet = errors.New("a simulated kubelet")

type kubelets struct{}

func (kubelets) Dial(context.Context) (net.Conn, error) { return nil, errKubelet }

// dialer knows the Service ns/hook with these EndpointSlices.
func dialer(t *testing.T, slices ...*discoveryv1.EndpointSlice) *network.Dialer {
	t.Helper()
	f := informers.NewSharedInformerFactory(nil, 0)
	d, err := network.NewDialer(f, kubelets{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "hook"}, Spec: corev1.ServiceSpec{
		ClusterIPs: []string{clusterIP}, Ports: []corev1.ServicePort{{Name: "https", Port: 443}},
	}}
	if err := f.Core().V1().Services().Informer().GetIndexer().Add(service); err != nil {
		t.Fatal(err)
	}
	for _, s := range slices {
		if err := f.Discovery().V1().EndpointSlices().Informer().GetIndexer().Add(s); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

func slice(name, address, port string) *discoveryv1.EndpointSlice {
	number, err := net.LookupPort("tcp", port)
	if err != nil {
		panic(err)
	}
	return &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, Labels: map[string]string{discoveryv1.LabelServiceName: "hook"}},
		Endpoints:  []discoveryv1.Endpoint{{Addresses: []string{address}}},
		Ports:      []discoveryv1.EndpointPort{{Name: ptr.To("https"), Port: ptr.To(int32(number))}},
	}
}

func notReady(s *discoveryv1.EndpointSlice) *discoveryv1.EndpointSlice {
	s.Endpoints[0].Conditions.Ready = ptr.To(false)
	return s
}

// listen takes connections on an address for as long as the test runs.
func listen(t *testing.T, address string) (net.Listener, string) {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return l, port
}
