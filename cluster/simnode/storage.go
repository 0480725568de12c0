package simnode

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// registerStorage makes a node's CSINode, which goes with it, as a kubelet does that no driver has registered with. One
// that lists drivers keeps them.
func registerStorage(ctx context.Context, client kubernetes.Interface, n *corev1.Node) error {
	nodes := client.StorageV1().CSINodes()
	wanted := &storagev1.CSINode{
		ObjectMeta: metav1.ObjectMeta{Name: n.Name, OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: n.Name, UID: n.UID}}},
		Spec:       storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{}},
	}
	old, err := nodes.Get(ctx, n.Name, metav1.GetOptions{})
	if err == nil && (len(old.OwnerReferences) != 1 || old.OwnerReferences[0].UID != n.UID) { // that of a Node which was deleted
		old.OwnerReferences = wanted.OwnerReferences
		_, err = nodes.Update(ctx, old, metav1.UpdateOptions{})
	}
	if apierrors.IsNotFound(err) {
		_, err = nodes.Create(ctx, wanted, metav1.CreateOptions{})
	}
	if err != nil {
		return fmt.Errorf("register CSINode: %w", err)
	}
	return nil
}
