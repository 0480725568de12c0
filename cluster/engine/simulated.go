package engine

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/slipway-dev/slipway/cluster/realnode/preflight"
	"github.com/slipway-dev/slipway/cluster/registry/places"
)

// whySimulated says why a pod on a simulated node does not run for real, in the same order in which the scheduler
// decides. It is nil where all nodes are simulated for good.
func (c *Cluster) whySimulated() func(context.Context, *corev1.Pod) string {
	images := c.images()
	if images == nil {
		return nil
	}
	return func(ctx context.Context, pod *corev1.Pod) string {
		if image := preflight.MissingImage(pod, images.Has); image != "" {
			return fmt.Sprintf("image %s is not in the cluster, and pods go by their images (%s)", image, places.Obtain(image))
		}
		if what := preflight.Of(pod, c.spec.Real.Plain, c.claims(ctx)); what != "" {
			return "real nodes refuse " + what
		}
		if c.Kinds().Real == 0 {
			return "no real node has joined (slipway cluster node join)"
		}
		return "it is bound to a simulated node"
	}
}

// claims asks the API server for what claims lead to.
func (c *Cluster) claims(ctx context.Context) preflight.Claims {
	return func(namespace, name string) (*corev1.PersistentVolumeClaim, *corev1.PersistentVolume) {
		client, err := kubernetes.NewForConfig(c.loopback())
		if err != nil {
			return nil, nil
		}
		claim, err := client.CoreV1().PersistentVolumeClaims(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return nil, nil
		}
		volume, err := client.CoreV1().PersistentVolumes().Get(ctx, claim.Spec.VolumeName, metav1.GetOptions{})
		if err != nil {
			return claim, nil
		}
		return claim, volume
	}
}
