package ship

import (
	"context"

	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	claimKind     = schema.GroupKind{Kind: "PersistentVolumeClaim"}
	classResource = storagev1.SchemeGroupVersion.WithResource("storageclasses")
)

const (
	// selectedNode is the annotation of a claim whose pod has a node, for which a volume is made now.
	selectedNode = "volume.kubernetes.io/selected-node"
	// firstConsumer is the reason of the event that says what a claim waits for.
	firstConsumer = "WaitForFirstConsumer"
)

// awaitsPod reports whether a claim gets its volume only when a pod uses it, and none has a node yet. What runs pods is
// waited for by itself. Of a class that the user may not read, the events of the claim tell.
func (c *Cluster) awaitsPod(ctx context.Context, claim *unstructured.Unstructured) bool {
	name, _, _ := unstructured.NestedString(claim.Object, "spec", "storageClassName")
	if kindOf(claim) != claimKind || name == "" || claim.GetAnnotations()[selectedNode] != "" {
		return false
	}
	class, err := c.objects.Resource(classResource).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsForbidden(err) {
		events, err := c.objects.Resource(eventResource).Namespace(claim.GetNamespace()).
			List(ctx, metav1.ListOptions{FieldSelector: "reason=" + firstConsumer + ",involvedObject.uid=" + string(claim.GetUID())})
		return err == nil && len(events.Items) > 0
	}
	if err != nil {
		return false
	}
	mode, _, _ := unstructured.NestedString(class.Object, "volumeBindingMode")
	return mode == string(storagev1.VolumeBindingWaitForFirstConsumer)
}
