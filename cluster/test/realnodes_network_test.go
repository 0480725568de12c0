package test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/slipway-dev/slipway/cluster/internal/testlimit"
	"github.com/slipway-dev/slipway/cluster/network"
	"github.com/slipway-dev/slipway/cluster/protocol"
)

// twoNodes has a cluster have two.
func twoNodes(c *protocol.Config) {
	c.Nodes = []protocol.Node{{Name: "node-1"}, {Name: "node-2", Labels: map[string]string{"second": "yes"}}}
}

// smallSecond has a cluster have two nodes. The second one is for pods that ask for it, and has amounts of its own.
func smallSecond(c *protocol.Config) {
	twoNodes(c)
	c.Nodes[1].Taints = []string{asked + "=yes:NoSchedule"}
	c.Nodes[1].Capacity = map[string]string{"cpu": "4", "memory": "4Gi", "pods": "40", "example.com/gpu": "1"}
}

// asked is the taint of the second node.
const asked = "everyday.slipway.dev/asked"

// onSecond has a pod be on the second node.
func onSecond(p *corev1.Pod) {
	p.Spec.NodeSelector = map[string]string{"second": "yes"}
	p.Spec.Tolerations = []corev1.Toleration{{Key: asked, Operator: corev1.TolerationOpExists}}
}

// testNetwork has a server on one node and a client on the other.
func testNetwork(t *testing.T, c *realCluster) {
	server, client := c.pod("server"), c.pod("client")
	onSecond(server)
	server.Spec.Hostname, server.Spec.Subdomain = "named", "headless"
	client.Spec.NodeName = "node-1"
	c.create(server)
	c.create(client)
	service := c.service("server", corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort, Ports: []corev1.ServicePort{
		{Name: "http", Port: 80, TargetPort: intstr.FromInt32(8080)},
		{Name: "echo", Port: 90, TargetPort: intstr.FromInt32(9090), Protocol: corev1.ProtocolUDP},
	}})
	c.service("headless", corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone, Ports: []corev1.ServicePort{{Name: "http", Port: 8080}}})
	c.service("alias", corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "server." + c.ns + ".svc.cluster.local"})
	c.await("client", ready)
	ip := c.await("server", ready).Status.PodIP
	if node := c.await("server", ready).Spec.NodeName; node != "node-2" {
		t.Errorf("the server is on %s", node)
	}
	for _, test := range []struct {
		want string
		args []string
	}{
		{"named", []string{"get", "http://" + ip + ":8080/"}},
		{"named", []string{"get", "http://" + service.Spec.ClusterIP + "/"}},
		{"named", []string{"get", "http://server/"}},
		{"named", []string{"get", "http://server." + c.ns + ".svc.cluster.local./"}},
		{"named", []string{"get", "http://named.headless:8080/"}},
		{"named", []string{"get", "http://alias/"}},
		{"hello", []string{"udp", "server:90", "hello"}},
		{ip + "\n", []string{"resolve", "headless"}},
		{service.Spec.ClusterIP + "\n", []string{"resolve", "server." + c.ns}},
		{"server." + c.ns + ".svc.cluster.local. 80\n", []string{"resolve", "http", "tcp", "server." + c.ns + ".svc.cluster.local"}},
	} {
		c.eventuallyExec(test.want, append([]string{"pod"}, test.args...)...)
	}
	testUnreachable(t, c)
	nodePort := fmt.Sprintf("http://127.0.0.1:%d/", service.Spec.Ports[0].NodePort)
	eventually(t, "the NodePort is listened to", func(ctx context.Context) (bool, error) {
		return statusOf(ctx, http.MethodGet, nodePort) == http.StatusOK, nil
	})
	if got := fetch(t, nodePort); got != "named" {
		t.Errorf("%s answers %q", nodePort, got)
	}
	if got, err := c.client.CoreV1().Services(c.ns).ProxyGet("http", "server", "http", "/", nil).DoRaw(t.Context()); err != nil || string(got) != "named" {
		t.Errorf("the API server gets %q through the Service: %v", got, err)
	}
	testAPIFromPod(t, c)
}

// testUnreachable: what is not in the cluster is unreachable at once, and a Service without endpoints refuses.
func testUnreachable(t *testing.T, c *realCluster) {
	c.service("nobody", corev1.ServiceSpec{Selector: map[string]string{"app": "nobody"}, Ports: []corev1.ServicePort{{Port: 80}}})
	for url, why := range map[string]string{
		"http://192.0.2.1/": "", "http://example.com/": "no such host", "http://nobody/": "refused", "http://10.0.0.1:81/": "refused",
	} {
		begin := time.Now()
		if got, stderr, err := c.try("client", nil, false, "pod", "get", url); err == nil || !strings.Contains(stderr, why) {
			t.Errorf("%s answers %q, and %q, want %s", url, got, stderr, why)
		}
		c.atOnce(url+" fails", time.Since(begin), 15*time.Second)
	}
	testNoWayOut(t, c)
}

// testNoWayOut: an Event on the pod says why it finds no name of the outside, once, however often it asks.
func testNoWayOut(t *testing.T, c *realCluster) {
	for range 3 {
		_, _, _ = c.try("client", nil, false, "pod", "get", "http://other.example.org/")
	}
	found := func() []corev1.Event {
		return must[*corev1.EventList](t)(c.client.CoreV1().Events(c.ns).List(t.Context(), metav1.ListOptions{FieldSelector: "reason=NoWayOut"})).Items
	}
	for late := time.After(testlimit.Hang); len(found()) == 0; {
		select {
		case <-late:
			t.Fatal("no Event says that pods have no way out")
		case <-time.After(10 * time.Millisecond):
		}
	}
	all := found()
	if len(all) != 1 || all[0].InvolvedObject.Name != "client" || !strings.Contains(all[0].Message, "The name example.com is not found: this cluster does not have that name") {
		t.Errorf("the Events are %+v", all)
	}
}

// testAPIFromPod: a pod reaches the API server as in any cluster, and has no more rights than its service account.
func testAPIFromPod(t *testing.T, c *realCluster) {
	_, stderr, err := c.try("client", nil, false, "pod", "api", "/api/v1/namespaces/default/pods")
	if err == nil || !strings.Contains(stderr, "403") {
		t.Errorf("a pod without rights: %v %s", err, stderr)
	}
	if got := c.exec("client", "pod", "api", "/version"); !strings.Contains(got, "gitVersion") {
		t.Errorf("/version is %s", got)
	}
}

func (c *realCluster) service(name string, spec corev1.ServiceSpec) *corev1.Service {
	c.t.Helper()
	if spec.Selector == nil && spec.Type != corev1.ServiceTypeExternalName {
		spec.Selector = map[string]string{"app": "server"}
	}
	s, err := c.client.CoreV1().Services(c.ns).Create(c.t.Context(), &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec}, metav1.CreateOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	return s
}

// eventuallyExec runs a command in the client until it says what is wanted: endpoints come a moment after their pods.
func (c *realCluster) eventuallyExec(want string, command ...string) {
	c.t.Helper()
	var got, stderr string
	var err error
	late := time.After(testlimit.Hang)
	for pause := firstPause; ; pause = longer(pause) {
		if got, stderr, err = c.try("client", nil, false, command...); err == nil && got == want {
			return
		}
		select {
		case <-late:
			c.t.Errorf("%v says %q, want %q (%v, %s)", command, got, want, err, stderr)
			return
		case <-time.After(pause):
		}
	}
}

// testHostService: a program on this machine serves pods by a Service with the address that stands for it.
func testHostService(t *testing.T, c *realCluster) {
	open, closed := c.config.HostPorts[0], serveOnHost(t, "another program")
	c.create(c.pod("client"))
	for service, port := range map[string]int{"host": open, "closed": closed} {
		c.service(service, corev1.ServiceSpec{Selector: map[string]string{}, Ports: []corev1.ServicePort{{Name: "http", Port: 80}}})
		c.hostEndpoints(service, int32(port))
	}
	c.await("client", ready)
	c.eventuallyExec("the host", "pod", "get", "http://host/")
	if said, _, err := c.try("client", nil, false, "pod", "get", "http://closed/"); err == nil {
		t.Errorf("a port that the cluster's user has not named answers %q", said)
	}
	c.awaitEvent("client", "EgressRefused", "--host-ports")
	t.Run("registry", func(t *testing.T) { testRegistryBehindService(t, c) })
}

// serveOnHost answers on a port of this machine.
func serveOnHost(t *testing.T, answer string) (port int) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, answer) })}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Shutdown(context.Background()) })
	return listener.Addr().(*net.TCPAddr).Port
}

// hostEndpoints leads a Service to a port of this machine.
func (c *realCluster) hostEndpoints(service string, port int32) {
	c.t.Helper()
	_, err := c.client.DiscoveryV1().EndpointSlices(c.ns).Create(c.t.Context(), &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Name: service, Labels: map[string]string{discoveryv1.LabelServiceName: service}},
		AddressType: discoveryv1.AddressTypeIPv4,
		Endpoints:   []discoveryv1.Endpoint{{Addresses: []string{network.Host.String()}}},
		Ports:       []discoveryv1.EndpointPort{{Name: new("http"), Port: &port}},
	}, metav1.CreateOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
}
