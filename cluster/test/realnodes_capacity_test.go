package test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// testCapacity: requests do not keep pods waiting, except on a node that was given small amounts.
func testCapacity(t *testing.T, c *realCluster) {
	testLarge(t, c, "node-1")
	c.advertises("node-2", amounts("4", "4Gi", "1Ti", "40"))
	c.advertises("node-2", corev1.ResourceList{"example.com/gpu": resource.MustParse("1")})
	c.requestsMuch("waiting", "node-2")
	c.await("waiting", func(p *corev1.Pod) bool {
		return len(p.Status.Conditions) > 0 && p.Status.Conditions[0].Reason == corev1.PodReasonUnschedulable
	})
}

// testLarge runs a pod that requests more than this machine has.
func testLarge(t *testing.T, c *realCluster, node string) {
	c.advertises(node, amounts("64", "256Gi", "1Ti", "250"))
	c.requestsMuch("large", node)
	c.await("large", ready)
	c.remove("large")
}

func (c *realCluster) advertises(node string, want corev1.ResourceList) {
	c.t.Helper()
	n, err := c.client.CoreV1().Nodes().Get(c.t.Context(), node, metav1.GetOptions{})
	if err != nil {
		c.t.Fatal(err)
	}
	for resource, amount := range want {
		for what, list := range map[string]corev1.ResourceList{"capacity": n.Status.Capacity, "allocatable": n.Status.Allocatable} {
			if got := list[resource]; got.Cmp(amount) != 0 {
				c.t.Errorf("%s: %s of %s: %s, want %s", node, what, resource, got.String(), amount.String())
			}
		}
	}
}

// requestsMuch makes a pod for a node.
func (c *realCluster) requestsMuch(name, node string) {
	c.t.Helper()
	p := c.pod(name)
	p.Spec.NodeSelector = map[string]string{corev1.LabelHostname: node}
	p.Spec.Tolerations = []corev1.Toleration{{Key: asked, Operator: corev1.TolerationOpExists}}
	p.Spec.Containers[0].Resources.Requests = amounts("16", "100Gi", "500Gi", "")
	c.create(p)
}

func amounts(cpu, memory, storage, pods string) corev1.ResourceList {
	list := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory), corev1.ResourceEphemeralStorage: resource.MustParse(storage),
	}
	if pods != "" {
		list[corev1.ResourcePods] = resource.MustParse(pods)
	}
	return list
}
