package apiserver

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/slipway-dev/slipway/cluster/network"
)

// TestServerReachesThisMachine: the server's connections to a Service lead to a program of this machine.
func TestServerReachesThisMachine(t *testing.T) {
	program := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "you asked for ", r.URL.Path) }))
	defer program.Close()
	_, text, err := net.SplitHostPort(program.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	c := theServer(t).client(t)
	name := fresh("local")
	leadTo(t, c, name, int32(port))
	eventually(t, "the Service leads to the program", func() (bool, string) {
		answer, err := c.CoreV1().Services(metav1.NamespaceDefault).ProxyGet("http", name, "80", "/a/b", nil).DoRaw(t.Context())
		return string(answer) == "you asked for /a/b", fmt.Sprintf("%s, %v", answer, err)
	})
}

// leadTo makes a Service that leads to a port of this machine.
func leadTo(t *testing.T, c kubernetes.Interface, name string, port int32) {
	t.Helper()
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}},
	}
	if _, err := c.CoreV1().Services(metav1.NamespaceDefault).Create(t.Context(), service, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	// The server's proxy reads Endpoints, whose types client libraries advise against.
	endpoints := fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Endpoints","metadata":{"name":%q},
		"subsets":[{"addresses":[{"ip":%q}],"ports":[{"port":%d}]}]}`, name, network.Host, port)
	post := c.CoreV1().RESTClient().Post().Namespace(metav1.NamespaceDefault).Resource("endpoints")
	if err := post.SetHeader("Content-Type", "application/json").Body(endpoints).Do(t.Context()).Error(); err != nil {
		t.Fatal(err)
	}
}

// TestServerReachesSimulatedKubelets: what the server asks a simulated node's kubelet is answered in this process.
func TestServerReachesSimulatedKubelets(t *testing.T) {
	c := theServer(t).client(t)
	name := fresh("simulated")
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	made, err := c.CoreV1().Nodes().Create(t.Context(), node, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	made.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "10.127.0.1"}}
	made.Status.DaemonEndpoints.KubeletEndpoint.Port = 10250
	if _, err := c.CoreV1().Nodes().UpdateStatus(t.Context(), made, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	ask := func(path string) ([]byte, error) {
		return c.CoreV1().RESTClient().Get().Resource("nodes").Name(name).SubResource("proxy").Suffix(path).DoRaw(t.Context())
	}
	if answer, err := ask("healthz"); string(answer) != "ok" {
		t.Errorf("%q, %v", answer, err)
	}
	if _, err := ask("metrics"); !apierrors.IsNotFound(err) || !strings.Contains(err.Error(), "simulated") {
		t.Errorf("what a simulated kubelet does not have: %v", err)
	}
}
