package test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/slipway-dev/slipway/cluster/protocol"
)

// TestRealDeletedNode deletes the Nodes of real nodes that run, and of one that is lost. Each registers again as a
// kubelet does when it starts, and runs its pods on.
func TestRealDeletedNode(t *testing.T) {
	for name, kind := range map[string]protocol.NodeKind{"isolated": protocol.RealNodes, "plain": protocol.PlainNodes} {
		t.Run(name, func(t *testing.T) {
			testDeletedNode(t, startReal(t, nil, twoNodes, func(c *protocol.Config) { c.NodeKind, c.Durable = kind, true }))
		})
	}
}

func testDeletedNode(t *testing.T, c *realCluster) {
	p := c.pod("on-2")
	p.Spec.NodeSelector = map[string]string{"second": "yes"}
	c.create(p)
	container := c.mainStatus(c.await("on-2", ready)).ContainerID
	nodes := c.client.CoreV1().Nodes()
	first, err := nodes.Get(t.Context(), "node-2", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	edits := `{"metadata": {"labels": {"by": "user"}}, "spec": {"unschedulable": true, "taints": [{"key": "by", "value": "user", "effect": "NoSchedule"}]}}`
	if _, err := nodes.Patch(t.Context(), "node-2", types.MergePatchType, []byte(edits), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	c.deleteNode("node-2")
	again := c.awaitNode("node-2", first.UID)
	if again.Labels["by"] != "" || again.Spec.Unschedulable || len(again.Spec.Taints) != 0 {
		t.Errorf("edits of the deleted Node came back: %+v", again)
	}
	for key, value := range first.Labels {
		if again.Labels[key] != value {
			t.Errorf("label %s: %q, was %q", key, again.Labels[key], value)
		}
	}
	if again.Spec.PodCIDR != first.Spec.PodCIDR || fmt.Sprint(again.Status.Addresses) != fmt.Sprint(first.Status.Addresses) {
		t.Errorf("another range or address: %+v, %+v", again.Spec, again.Status.Addresses)
	}
	if now := c.mainStatus(c.await("on-2", ready)); now.ContainerID != container || now.RestartCount != 0 || !c.answers("on-2") {
		t.Errorf("its pod did not run on: %+v", now)
	}
	p = c.pod("later")
	p.Spec.NodeSelector = map[string]string{"second": "yes"}
	c.create(p)
	c.await("later", ready)

	// One that is lost stays so, and registers when it starts.
	requests := c.dial()
	requests.send(`{"id": 1, "method": "stopNode", "params": {"name": "node-2"}}`)
	requests.next("reply")
	c.deleteNode("node-2")
	eventually(t, "its pods are given up", func(ctx context.Context) (bool, error) {
		list, err := c.client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
		return err == nil && len(list.Items) == 0, err
	})
	if _, err := nodes.Get(t.Context(), "node-2", metav1.GetOptions{}); err == nil {
		t.Error("a lost node has registered again")
	}
	requests.send(`{"id": 2, "method": "startNode", "params": {"name": "node-2"}}`)
	if e := requests.next("reply"); e.Error != "" {
		t.Fatal(e.Error)
	}
	again = c.awaitNode("node-2", again.UID)

	// The cluster stops with a Node that was deleted a moment ago, and comes back with it.
	c.deleteNode("node-2")
	c.stop()
	c.startAgain()
	c.awaitNode("node-2", again.UID)
	p.ResourceVersion, p.UID = "", ""
	c.create(p)
	c.await("later", ready)
}

// TestRealPanic: a node whose program ends as one that panics comes back with its pods, and the status counts that.
func TestRealPanic(t *testing.T) {
	for name, kind := range map[string]protocol.NodeKind{"isolated": protocol.RealNodes, "plain": protocol.PlainNodes} {
		t.Run(name, func(t *testing.T) {
			c := startReal(t, nil, func(c *protocol.Config) { c.NodeKind = kind })
			c.create(c.pod("kept"))
			c.await("kept", ready)
			if err := syscall.Kill(c.find("slipway-node"), syscall.SIGQUIT); err != nil { // has a Go program show its goroutines and end
				t.Fatal(err)
			}
			c.await("kept", func(p *corev1.Pod) bool { return c.mainStatus(p).RestartCount == 1 && ready(p) })
			s := c.status()
			at := slices.IndexFunc(s.Components, func(c protocol.Component) bool { return c.Name == protocol.Nodes })
			if s.Nodes.Panics != 1 || !strings.Contains(s.Components[at].Message, "kubelets panicked 1 time:") {
				t.Errorf("%d panics; %s", s.Nodes.Panics, s.Components[at].Message)
			}
		})
	}
}

func (c *realCluster) deleteNode(name string) {
	c.t.Helper()
	if err := c.client.CoreV1().Nodes().Delete(c.t.Context(), name, metav1.DeleteOptions{}); err != nil {
		c.t.Fatal(err)
	}
}

// awaitNode waits until a node is Ready and schedulable that has another UID than its last Node.
func (c *realCluster) awaitNode(name string, last types.UID) (n *corev1.Node) {
	c.t.Helper()
	eventually(c.t, name+" is ready", func(ctx context.Context) (bool, error) {
		n, _ = c.client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		return n != nil && n.UID != last && isNodeReady(n) && len(n.Spec.Taints) == 0, nil
	})
	return n
}
