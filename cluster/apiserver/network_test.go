package apiserver

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

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
