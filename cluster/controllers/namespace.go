package controllers

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/pkg/controller/namespace/deletion"
)

const namespaceWorkers = 10

// newNamespace tears namespaces down as soon as they are deleted. Upstream,
// pkg/controller/namespace/namespace_controller.go, waits for five seconds before it
// begins, so that several API servers see the deletion; here there is one.
// The work itself is upstream's deleter, whose error, while content remains, is the normal case.
func newNamespace(ctx context.Context, d *Deps) (Loop, error) {
	client, err := d.client("namespace-controller")
	if err != nil {
		return nil, err
	}
	core := client.CoreV1()
	going := func(ctx context.Context, name string) (bool, error) {
		ns, err := core.Namespaces().Get(ctx, name, metav1.GetOptions{})
		return err == nil && ns.DeletionTimestamp != nil, err
	}
	deleter := deletion.NewNamespacedResourcesDeleter(ctx, core.Namespaces(), sparing{d.metadata, d.factory.empty, going}, core,
		client.Discovery().ServerPreferredNamespacedResources, corev1.FinalizerKubernetes)
	q := newQueue("namespace-controller", deleter.Delete)
	deleted := func(obj any) bool {
		ns, ok := obj.(*corev1.Namespace)
		return ok && ns.DeletionTimestamp != nil
	}
	if err := q.watch(d.Informers.Core().V1().Namespaces().Informer(), deleted); err != nil {
		return nil, err
	}
	return q.loop(namespaceWorkers), nil
}
