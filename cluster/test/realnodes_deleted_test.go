package test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// testDeletedNode deletes the Nodes of real nodes that run, and of one that is lost. Each registers again as a kubelet
// does when it starts, and runs its pods on. The cluster is started again meanwhile.
func testDeletedNode(t *testing.T, c *realCluster) {
	p := c.pod("on-2", "graceful")
	onSecond(p)
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
	if again.Labels["by"] != "" || again.Spec.Unschedulable || fmt.Sprint(again.Spec.Taints) != fmt.Sprint(first.Spec.Taints) {
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
	p = c.pod("later", "graceful")
	onSecond(p)
	c.create(p)
	c.await("later", ready)

	// One that is lost stays so, and registers when it starts.
	c.stopNode("node-2")
	c.deleteNode("node-2")
	eventually(t, "its pods are given up", func(ctx context.Context) (bool, error) {
		list, err := c.client.CoreV1().Pods(c.ns).List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=node-2"})
		return err == nil && len(list.Items) == 0, err
	})
	if _, err := nodes.Get(t.Context(), "node-2", metav1.GetOptions{}); err == nil {
		t.Error("a lost node has registered again")
	}
	c.startNode("node-2")
	again = c.awaitNode("node-2", again.UID)

	// The cluster stops with a Node that was deleted a moment ago, and comes back with it.
	c.running("kept", "graceful")
	c.deleteNode("node-2")
	before := c.processes()
	begin := time.Now()
	c.stop()
	t.Log("stopped after", time.Since(begin))
	allEnded(t, before)
	c.startAgain()
	c.awaitNode("node-2", again.UID)
	c.await("kept", func(p *corev1.Pod) bool { return c.mainStatus(p).RestartCount >= 1 && ready(p) })
	p.ResourceVersion, p.UID = "", ""
	c.create(p)
	c.await("later", ready)
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
		return n != nil && n.UID != last && isNodeReady(n) && !n.Spec.Unschedulable && !lostTaint(n), nil
	})
	return n
}

// lostTaint says whether a node still has a taint of one that is not ready.
func lostTaint(n *corev1.Node) bool {
	return slices.ContainsFunc(n.Spec.Taints, func(taint corev1.Taint) bool { return strings.HasPrefix(taint.Key, "node.kubernetes.io/") })
}

// stopNode has a node be lost.
func (c *realCluster) stopNode(name string) {
	c.t.Helper()
	c.dial().call("stopNode", map[string]string{"name": name}, nil)
}

// startNode has a lost node come back.
func (c *realCluster) startNode(name string) {
	c.t.Helper()
	c.dial().call("startNode", map[string]string{"name": name}, nil)
}
