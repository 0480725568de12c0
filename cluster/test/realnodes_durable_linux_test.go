package test

import (
	"context"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-dev/slipway/cluster/protocol"
)

// durable has a cluster keep what it has.
func durable(c *protocol.Config) { c.Durable = true }

// TestRealDurable follows a durable cluster through ends of its nodes and of its own: it comes back with its pods and
// the data of their claims. Its kernel has no nftables, which only egress needs.
func TestRealDurable(t *testing.T) {
	t.Parallel()
	c := startRealWith(t, nil, []func(*exec.Cmd){lacksNetfilter}, smallSecond, durable)
	set := c.createClaiming("claiming", 1)
	set.awaitReady()
	set.write()
	c.part(t, "lost node", testLostNode)
	c.part(t, "machine given up", testMachineGivenUp)
	c.part(t, "deleted node", testDeletedNode) // which starts it again
	c.awaitCrowd("kept", 1)
	c.part(t, "claims", func(t *testing.T, c *realCluster) { testClaimsOutlive(t, c, set) })
}

// TestRealPlain follows a cluster with plain nodes in the same way. Who wants plain nodes gets them anywhere.
func TestRealPlain(t *testing.T) {
	t.Parallel()
	c := startReal(t, nil, smallSecond, durable, func(c *protocol.Config) { c.NodeKind = protocol.PlainNodes })
	c.part(t, "resize", testResize)
	c.part(t, "deleted node", testDeletedNode)
	c.stopNode("node-2")
	c.part(t, "panic", testPanic)
	c.part(t, "stop", testPlainStop)
}

// testLostNode: a node that is stopped is lost with its pods, and comes back. The other one panics meanwhile.
func testLostNode(t *testing.T, c *realCluster) {
	p := c.pod("lost", "graceful")
	onSecond(p)
	c.create(p)
	c.await("lost", ready)
	c.stopNode("node-2")
	testPanic(t, c)
	eventually(t, "the node is lost", func(ctx context.Context) (bool, error) {
		n, err := c.client.CoreV1().Nodes().Get(ctx, "node-2", metav1.GetOptions{})
		return err == nil && !isNodeReady(n), err
	})
	c.startNode("node-2")
	n, err := c.client.CoreV1().Nodes().Get(t.Context(), "node-2", metav1.GetOptions{})
	if err != nil || !isNodeReady(n) {
		t.Errorf("the node is not back: %v", err)
	}
	c.remove("lost")
}

// testPanic: a node whose program ends as one that panics comes back with its pods, and the status counts that. It is
// the only one that runs.
func testPanic(t *testing.T, c *realCluster) {
	c.running("panics", "graceful")
	if err := syscall.Kill(c.find("slipway-node"), syscall.SIGQUIT); err != nil { // has a Go program show its goroutines and end
		t.Fatal(err)
	}
	c.await("panics", func(p *corev1.Pod) bool { return c.mainStatus(p).RestartCount == 1 && ready(p) })
	s := c.status()
	at := slices.IndexFunc(s.Components, func(c protocol.Component) bool { return c.Name == protocol.Nodes })
	if s.Nodes.Panics != 1 || !strings.Contains(s.Components[at].Message, "kubelets panicked 1 time:") {
		t.Errorf("%d panics; %s", s.Nodes.Panics, s.Components[at].Message)
	}
	c.remove("panics")
}

// testMachineGivenUp: a machine that is killed again and again is given up, with a report. The rest of the cluster
// goes on, and the start of a node starts it anew.
func testMachineGivenUp(t *testing.T, c *realCluster) {
	c.createCrowd("kept", 1)
	c.awaitCrowd("kept", 1)
	kills := 0
	eventually(t, "the machine is given up, with its nodes", func(context.Context) (bool, error) {
		if signalled(c.machineNow(), syscall.SIGKILL) {
			kills++
		}
		message := c.nodesMessage()
		return strings.HasPrefix(message, "0 of 2 real nodes; stopped: node-1, node-2; ") && strings.Contains(message, "the nodes' machine ended too often ") && strings.Contains(message, "slipway cluster node start"), nil
	})
	if kills < 5 {
		t.Errorf("given up after %d kills", kills)
	}
	if _, err := c.client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "new"}}, metav1.CreateOptions{}); err != nil {
		t.Errorf("without real nodes: %v", err)
	}
	if c.machineNow() != 0 {
		t.Error("a machine runs that was given up")
	}
	c.startNode("node-1")
	c.startNode("node-2")
	c.awaitCrowd("kept", 1)
	if message := c.nodesMessage(); !strings.HasPrefix(message, "2 real nodes") || strings.Contains(message, "ended") {
		t.Errorf("status says %q", message)
	}
}

// testClaimsOutlive: a durable cluster that was killed has the data of its claims when it is started again. A reset
// takes those of claims that it removes, and leaves the others.
func testClaimsOutlive(t *testing.T, c *realCluster, kept claiming) {
	kept.realCluster = c
	kept.has()
	processes := c.processes()
	killProcess(t, c.cmd.Process.Pid)
	allEnded(t, processes)
	c.startAgain()
	kept.has()
	more := c.createClaiming("more", 1)
	more.awaitReady()
	folders := more.folders()
	c.dial().resetTo("")
	allGone(t, folders)
	kept.has()

	// One that was deleted and comes back by a reset is empty.
	folders = kept.folders()
	kept.remove()
	allGone(t, folders)
	c.dial().resetTo("")
	kept.awaitReady()
	if got, _, err := kept.try("claiming-0", nil, false, "pod", "cat", "/data/deep/part/file"); err == nil {
		t.Errorf("the volume of a claim that a reset brought back has %q", got)
	}
}
