package ship

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Kinds of workloads whose pods the scheduler places by their images, and one whose pods it does not.
var (
	statefulSetKind = schema.GroupKind{Group: "apps", Kind: "StatefulSet"}
	daemonSetKind   = schema.GroupKind{Group: "apps", Kind: "DaemonSet"}
)

// simulatedNode is the label of nodes whose pods are no processes.
const simulatedNode = "slipway.dev/simulated-node"

// A Simulation is a workload that seems to run, or would: its pods are on simulated nodes.
type Simulation struct {
	Workload string   // kind/namespace/name
	Images   []string // of its containers
}

// Simulated returns the workloads among objects that only seem to run.
func (c *Cluster) Simulated(ctx context.Context, objects []*unstructured.Unstructured) []Simulation {
	var all []Simulation
	for _, object := range objects {
		if !runsPods(object) {
			continue
		}
		live, err := c.live(ctx, object)
		if err != nil {
			continue
		}
		if pod := c.simulatedPod(ctx, live); pod != nil {
			all = append(all, Simulation{nameOf(object), imagesOf(*pod)})
		}
	}
	return all
}

// simulatedPod is a pod of a workload that runs no container; nil if there is none. DaemonSets have pods on simulated
// nodes beside those that run.
func (c *Cluster) simulatedPod(ctx context.Context, workload *unstructured.Unstructured) *corev1.Pod {
	nodes := c.simulatedNodes(ctx)
	if len(nodes) == 0 {
		return nil
	}
	var simulated *corev1.Pod
	for _, pod := range c.podsOf(ctx, workload) {
		switch {
		case pod.DeletionTimestamp != nil || pod.Spec.NodeName == "":
		case slices.Contains(nodes, pod.Spec.NodeName):
			simulated = &pod
		case kindOf(workload) == daemonSetKind:
			return nil
		}
	}
	return simulated
}

// Unloaded returns the Deployments and StatefulSets among objects that run in containers, with those of their images
// that the cluster does not have, as has knows. A cluster with simulated nodes would replace the containers by
// simulated pods.
func (c *Cluster) Unloaded(ctx context.Context, objects []*unstructured.Unstructured, has func(ctx context.Context, image string) (bool, error)) (all []Simulation, err error) {
	nodes := c.simulatedNodes(ctx)
	if len(nodes) == 0 {
		return nil, nil
	}
	for _, object := range objects {
		if kind := kindOf(object); kind != deploymentKind && kind != statefulSetKind {
			continue
		}
		live, err := c.found(ctx, object)
		if err != nil {
			return nil, c.explainObject(ctx, object, err)
		}
		if live == nil || !c.inContainers(ctx, live, nodes) {
			continue
		}
		missing := Simulation{Workload: nameOf(live)}
		for _, image := range ContainerImages([]*unstructured.Unstructured{object}) {
			there, err := has(ctx, image.Image)
			if err != nil {
				return nil, err
			}
			if !there {
				missing.Images = append(missing.Images, image.Image)
			}
		}
		if len(missing.Images) > 0 {
			all = append(all, missing)
		}
	}
	return all, nil
}

// inContainers reports whether a workload has pods, of whatever revision, on other nodes than the simulated ones.
func (c *Cluster) inContainers(ctx context.Context, workload *unstructured.Unstructured, simulated []string) bool {
	selected, _, _ := unstructured.NestedStringMap(workload.Object, "spec", "selector", "matchLabels")
	if len(selected) == 0 {
		return false
	}
	pods := list[corev1.Pod](ctx, c.objects.Resource(podResource).Namespace(workload.GetNamespace()), selecting(selected))
	return slices.ContainsFunc(pods, func(p corev1.Pod) bool {
		return p.Spec.NodeName != "" && p.DeletionTimestamp == nil && !slices.Contains(simulated, p.Spec.NodeName)
	})
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
