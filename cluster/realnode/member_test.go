package realnode

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	kubetesting "k8s.io/client-go/testing"

	"github.com/slipway-dev/slipway/cluster/node"
)

// TestPublishAddress: the address is published also when somebody else changes the node at the same time.
func TestPublishAddress(t *testing.T) {
	client := fake.NewClientset(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}})
	updates := 0
	client.PrependReactor("update", "nodes", func(kubetesting.Action) (bool, runtime.Object, error) {
		updates++
		return updates == 1, nil, apierrors.NewConflict(corev1.Resource("nodes"), "node-1", nil)
	})
	m := &member{nodes: &Nodes{client: client}, registered: registered{number: 1}}
	m.spec.Name = "node-1"
	if err := m.publishAddress(t.Context()); err != nil {
		t.Fatal(err)
	}
	n, err := client.CoreV1().Nodes().Get(t.Context(), "node-1", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if updates != 2 || len(n.Status.Addresses) != 2 || n.Status.Addresses[0].Address != node.Address(1).String() {
		t.Errorf("after %d updates it has the addresses %v", updates, n.Status.Addresses)
	}
}
