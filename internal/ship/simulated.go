package ship

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// simulatedNode is the label of nodes whose pods are no processes.
const simulatedNode = "slipway.dev/simulated-node"

// A Simulation is a workload that seems to run: its pods are on simulated nodes.
type Simulation struct {
	Workload string   // kind/namespace/name
	Images   []string // of its containers
}

// Simulated returns the workloads among objects that only seem to run.
func (c *Cluster) Simulated(ctx context.Context, objects []*unstructured.Unstructured) []Simulation {
	nodes := c.simulatedNodes(ctx)
	if len(nodes) == 0 {
		return nil
	}
	var all []Simulation
	for _, object := range objects {
		if !runsPods(object) {
			continue
		}
		live, err := c.live(ctx, object)
		if err != nil {
			continue
		}
		on := func(p corev1.Pod) bool { return slices.Contains(nodes, p.Spec.NodeName) }
		pods := c.podsOf(ctx, live)
		if at := slices.IndexFunc(pods, on); at >= 0 {
			all = append(all, Simulation{nameOf(object), imagesOf(pods[at])})
		}
	}
	return all
}

// imagesOf are the images of a pod, each once.
func imagesOf(pod corev1.Pod) []string {
	var images []string
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for _, container := range containers {
			if !slices.Contains(images, container.Image) {
				images = append(images, container.Image)
			}
		}
	}
	return images
}

// simulatedNodes are the names of the cluster's simulated nodes.
func (c *Cluster) simulatedNodes(ctx context.Context) []string {
	found, err := c.objects.Resource(nodeResource).List(ctx, metav1.ListOptions{LabelSelector: simulatedNode})
	if err != nil {
		return nil
	}
	var names []string
	for _, n := range found.Items {
		names = append(names, n.GetName())
	}
	return names
}
