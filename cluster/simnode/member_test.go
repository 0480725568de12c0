package simnode_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/slipway-dev/slipway/cluster/internal/testlimit"
	"github.com/slipway-dev/slipway/cluster/node"
	"github.com/slipway-dev/slipway/cluster/simnode"
)

// A lost node says nothing; when it comes back it tells what became of its pods.
func TestLostNodeComesBack(t *testing.T) {
	config, client := start(t)
	nodes := run(t, config, node.Spec{Name: "lost"}, node.Spec{Name: "other"})
	create(t, client, pod("deleted", "lost", corev1.RestartPolicyAlways))
	create(t, client, pod("kept", "lost", corev1.RestartPolicyAlways))
	await(t, client, "deleted", ready)
	kept := await(t, client, "kept", ready)

	if err := nodes.StopNode("lost"); err != nil {
		t.Fatal(err)
	}
	if lost := nodes.Lost(); len(lost) != 1 || lost[0] != "lost" {
		t.Errorf("lost nodes: %v", lost)
	}
	create(t, client, pod("late", "lost", corev1.RestartPolicyAlways))
	remove(t, client, "deleted")
	countAsLost(t, client, "lost")
	// What a node that runs does with its pod shows that the lost one had its time.
	create(t, client, pod("elsewhere", "other", corev1.RestartPolicyAlways))
	await(t, client, "elsewhere", ready)
	if p := await(t, client, "deleted", exists); p.DeletionTimestamp == nil || !ready(p) {
		t.Errorf("the deleted pod on the lost node: %v", p.Status)
	}
	if p := await(t, client, "late", exists); p.Status.StartTime != nil {
		t.Errorf("the lost node took a pod: %v", p.Status)
	}
	if n := get(t, client, "lost"); nodeReady(n) == corev1.ConditionTrue {
		t.Error("the lost node reports")
	}

	if err := nodes.StartNode(t.Context(), "lost"); err != nil {
		t.Fatal(err)
	}
	if n := get(t, client, "lost"); nodeReady(n) != corev1.ConditionTrue {
		t.Errorf("the node that came back is not ready: %v", n.Status.Conditions)
	}
	awaitGone(t, client, "deleted")
	await(t, client, "late", ready)
	if p := await(t, client, "kept", ready); p.Status.ContainerStatuses[0].RestartCount != 0 || p.UID != kept.UID {
		t.Errorf("the kept pod: %v", p.Status)
	}
}

// A node that runs but counts as lost, as after a suspend, does not wait for its next heartbeat.
func TestNodeThatCountsAsLostReports(t *testing.T) {
	config, client := start(t)
	run(t, config, node.Spec{Name: "n"})
	countAsLost(t, client, "n")
	awaitNode(t, client, "n", func(n *corev1.Node) bool { return nodeReady(n) == corev1.ConditionTrue })
}

func TestDeletedNodeRegistersAgain(t *testing.T) {
	config, client := start(t)
	nodes := run(t, config, node.Spec{Name: "n", Labels: map[string]string{"zone": "a"}})
	old := get(t, client, "n")
	deleteNode(t, client, "n")
	again := awaitNode(t, client, "n", func(n *corev1.Node) bool { return n.UID != old.UID && len(n.Spec.Taints) == 0 })
	if again.Labels["zone"] != "a" || again.Spec.PodCIDR != old.Spec.PodCIDR || nodeReady(again) != corev1.ConditionTrue {
		t.Errorf("the node made anew: %v, %v", again.Labels, again.Spec)
	}
	create(t, client, pod("p", "n", corev1.RestartPolicyAlways))
	await(t, client, "p", ready)

	if err := nodes.StopNode("n"); err != nil {
		t.Fatal(err)
	}
	deleteNode(t, client, "n")
	if _, err := client.CoreV1().Nodes().Get(t.Context(), "n", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("a lost node that was deleted: %v", err)
	}
	if err := nodes.StartAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	n := get(t, client, "n")
	if c, err := client.StorageV1().CSINodes().Get(t.Context(), "n", metav1.GetOptions{}); err != nil || len(c.OwnerReferences) != 1 || c.OwnerReferences[0].UID != n.UID {
		t.Errorf("its CSINode is %+v, %v", c, err)
	}
}

func TestUnknownNode(t *testing.T) {
	config, _ := start(t)
	nodes := run(t, config, node.Spec{Name: "a"}, node.Spec{Name: "b"})
	for _, err := range []error{nodes.StopNode("c"), nodes.StartNode(t.Context(), "c")} {
		if !errors.Is(err, node.ErrUnknown) || !strings.Contains(err.Error(), "a, b") {
			t.Errorf("error %v", err)
		}
	}
	if err := nodes.StartNode(t.Context(), "a"); err != nil {
		t.Errorf("a node that runs: %v", err)
	}
}

func TestWrongAnnotationIsTold(t *testing.T) {
	config, client := start(t)
	run(t, config, node.Spec{Name: "n"})
	p := pod("p", "n", corev1.RestartPolicyAlways)
	p.Annotations = map[string]string{"slipway.dev/exit-code": "one"}
	create(t, client, p)
	await(t, client, "p", ready)
	events := cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "events", "default", fields.OneTermEqualSelector("reason", simnode.ReasonInvalidAnnotation))
	until(t, events, &corev1.Event{}, never, func(e watch.Event) (bool, error) {
		told, ok := e.Object.(*corev1.Event)
		return ok && told.InvolvedObject.Name == "p" && strings.Contains(told.Message, "0 to 255"), nil
	})
}

// countAsLost does to a Node what the node lifecycle controller does when it hears nothing.
func countAsLost(t *testing.T, client kubernetes.Interface, name string) {
	t.Helper()
	n := get(t, client, name)
	for i := range n.Status.Conditions {
		n.Status.Conditions[i].Status = corev1.ConditionUnknown
	}
	if _, err := client.CoreV1().Nodes().UpdateStatus(t.Context(), n, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func deleteNode(t *testing.T, client kubernetes.Interface, name string) {
	t.Helper()
	if err := client.CoreV1().Nodes().Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

// awaitNode returns the Node once it is as wanted. It asks, because a Node that is gone for a while is part of the
// matter.
func awaitNode(t *testing.T, client kubernetes.Interface, name string, wanted func(*corev1.Node) bool) *corev1.Node {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testlimit.Hang)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		n, err := client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		switch {
		case err == nil && wanted(n):
			return n
		case err != nil && !apierrors.IsNotFound(err):
			t.Fatal(err)
		}
		<-tick.C
	}
}

func exists(*corev1.Pod) bool { return true }

func nodeReady(n *corev1.Node) corev1.ConditionStatus {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status
		}
	}
	return ""
}
