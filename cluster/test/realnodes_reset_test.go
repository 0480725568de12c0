package test

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// testRealReset: a reset ends the pods that are not part of what it leads back to, whatever they are doing, and what is
// kept runs again, the pods that were deleted as well. The node stays ready.
func testRealReset(t *testing.T, c *realCluster) {
	empty := c.usageOf()
	c.createCrowd("more", crowd)
	c.resetAndCheck()
	c.settlesTo(empty, c.usageOf)

	c.createCrowd("kept", 2)
	c.awaitCrowd("kept", 2)
	c.dial().keep("")
	kept := c.usageOf()
	for _, between := range []func(){
		func() { c.createCrowd("more", crowd) },
		func() { c.createCrowd("more", crowd); c.awaitCrowd("more", crowd); c.deleteCrowd("more") },
		func() { c.deleteCrowd("kept"); c.createCrowd("more", 1); c.awaitCrowd("more", 1) },
		func() { c.deleteCrowd("kept"); c.awaitCrowd("kept", 0) },
		func() { c.deleteNode("node-1"); c.awaitCrowd("kept", 2) }, // it registers again, and its pods run on
		c.openStreams,
	} {
		between()
		c.resetAndCheck()
		c.awaitCrowd("kept", 2)
		c.closeStreams()
		c.settlesTo(kept, c.usageOf)
	}
	c.deleteCrowd("kept")
	c.awaitCrowd("kept", 0)
}

// resetAndCheck resets the cluster, after which nothing of the crowd is there and the node is ready.
func (c *realCluster) resetAndCheck() {
	c.t.Helper()
	before := c.findNode()
	c.dial().resetTo("")
	list, err := c.client.CoreV1().Pods(c.ns).List(c.t.Context(), metav1.ListOptions{LabelSelector: "crowd=more"})
	if err != nil || len(list.Items) > 0 {
		c.t.Errorf("after a reset there are still %d pods (%v)", len(list.Items), err)
	}
	begin := time.Now()
	eventually(c.t, "the node is ready", func(ctx context.Context) (bool, error) {
		node, err := c.client.CoreV1().Nodes().Get(ctx, "node-1", metav1.GetOptions{})
		return err == nil && isNodeReady(node), err
	})
	// One that had no processor for some seconds was taken for lost meanwhile, until its next sign of life.
	c.t.Log("after a reset the node is ready after", time.Since(begin))
	if after := c.findNode(); after != before {
		c.t.Errorf("the node was started again: process %d, before %d", after, before)
	}
}
