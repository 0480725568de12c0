package ship

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// madeRealFor is the annotation of pods that were made anew because their images have come to the cluster, with the
// images' digests. Pods that are simulated all the same are refused by real nodes, and are not made anew for these
// images again.
const madeRealFor = "slipway.dev/made-real-for"

// Awakening returns the Deployments and StatefulSets among objects whose pods are simulated although the cluster has
// all of their images by now: pods stay on the node that they were given when there was no image.
func (c *Cluster) Awakening(ctx context.Context, objects []*unstructured.Unstructured, images Images) ([]Outdated, error) {
	nodes := c.simulatedNodes(ctx)
	if len(nodes) == 0 {
		return nil, nil
	}
	return c.judged(ctx, objects, []string{"Deployment", "StatefulSet"}, func(wanted, live *unstructured.Unstructured, pod corev1.Pod) (*Outdated, error) {
		if !slices.Contains(nodes, pod.Spec.NodeName) {
			return nil, nil
		}
		return awakening(ctx, wanted, live, pod, images)
	})
}

// awakening judges one simulated pod of a workload; nil for one that stays as it is.
func awakening(ctx context.Context, wanted, live *unstructured.Unstructured, pod corev1.Pod, images Images) (*Outdated, error) {
	var digests []string
	names := imagesOf(pod)
	for _, name := range names {
		if !RunsImage([]*unstructured.Unstructured{wanted}, name) {
			return nil, nil
		}
		now, err := images(ctx, name)
		if err != nil {
			return nil, err
		}
		if len(now) == 0 {
			return nil, nil
		}
		digests = append(digests, now[0])
	}
	mark := strings.Join(digests, ",")
	if _, chosen := pod.Spec.NodeSelector[simulatedNode]; chosen || len(names) == 0 || pod.Annotations[madeRealFor] == mark {
		return nil, nil
	}
	return &Outdated{Workload: nameOf(live), Image: names[0], To: digests[0], live: live, mark: mark}, nil
}
