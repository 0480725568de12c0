package controllers

import (
	"cmp"
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
)

const (
	// terminatedPods is upstream's default: so many pods that have ended are kept.
	terminatedPods       = 12500
	terminatedPodsPeriod = 20 * time.Second
	// nodeAbsence is how long a node must be gone before its pods are given up. Upstream
	// has 40 seconds, for a kubelet that registers anew.
	nodeAbsence = time.Second
)

// podCollector removes the pods that no kubelet will ever remove: those of deleted nodes,
// those that are deleted before they have a node, those that are deleted on a node
// that is out of service, and the oldest of very many that have ended. Upstream's
// counterpart, pkg/controller/podgc, does the same every 20 seconds, and imports the kubelet.
type podCollector struct {
	client kubernetes.Interface
	pods   corelisters.PodLister
	nodes  corelisters.NodeLister
	queue  *queue
}

func newPodGarbageCollector(_ context.Context, d *Deps) (Loop, error) {
	const name = "pod-garbage-collector"
	client, err := d.client(name)
	if err != nil {
		return nil, err
	}
	pods, nodes := d.Informers.Core().V1().Pods(), d.Informers.Core().V1().Nodes()
	c := &podCollector{client: client, pods: pods.Lister(), nodes: nodes.Lister()}
	c.queue = newQueue(name, c.collect)
	if err := c.queue.handleWith(pods.Informer(), cache.ResourceEventHandlerFuncs{
		AddFunc:    c.look,
		UpdateFunc: func(_, pod any) { c.look(pod) },
	}); err != nil {
		return nil, err
	}
	if err := c.queue.handleWith(nodes.Informer(), cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(_, node any) { c.lookAtPodsOf(node) },
		DeleteFunc: c.lookAtPodsOf,
	}); err != nil {
		return nil, err
	}
	return together(c.queue.loop(workers), c.collectTerminated), nil
}

// look has a pod collected if it is deleted, or in a while if nobody knows its node.
func (c *podCollector) look(obj any) {
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return
	}
	key := cache.MetaObjectToName(pod).String()
	switch _, err := c.nodes.Get(pod.Spec.NodeName); {
	case pod.DeletionTimestamp != nil:
		c.queue.keys.Add(key)
	case pod.Spec.NodeName != "" && apierrors.IsNotFound(err):
		c.queue.keys.AddAfter(key, nodeAbsence)
	}
}

// lookAtPodsOf looks at the pods of a node that is gone or out of service.
func (c *podCollector) lookAtPodsOf(obj any) {
	if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = gone.Obj
	}
	node, ok := obj.(*corev1.Node)
	if !ok {
		return
	}
	if _, err := c.nodes.Get(node.Name); err == nil && !outOfService(node) {
		return
	}
	pods, err := c.pods.List(labels.Everything())
	if err != nil {
		return // it comes from memory
	}
	for _, pod := range pods {
		if pod.Spec.NodeName == node.Name {
			c.look(pod)
		}
	}
}

// outOfService says that somebody has promised that nothing runs on the node any more.
func outOfService(node *corev1.Node) bool {
	ready := slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
	return !ready && slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeOutOfService })
}

// collect removes the pod with that key if nobody else will.
func (c *podCollector) collect(ctx context.Context, key string) error {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return err
	}
	pod, err := c.pods.Pods(namespace).Get(name)
	if err != nil {
		return ignoreNotFound(err)
	}
	if pod.Spec.NodeName == "" {
		if pod.DeletionTimestamp == nil {
			return nil
		}
		return c.remove(ctx, pod, nil)
	}
	node, err := c.nodes.Get(pod.Spec.NodeName)
	switch {
	case apierrors.IsNotFound(err):
		return c.collectOrphan(ctx, pod)
	case err == nil && pod.DeletionTimestamp != nil && outOfService(node):
		return c.remove(ctx, pod, nil)
	}
	return err
}

// collectOrphan removes a pod whose node is gone; the lister may not know a new node yet.
func (c *podCollector) collectOrphan(ctx context.Context, pod *corev1.Pod) error {
	_, err := c.client.CoreV1().Nodes().Get(ctx, pod.Spec.NodeName, metav1.GetOptions{})
	if !apierrors.IsNotFound(err) {
		return err
	}
	return c.remove(ctx, pod, &corev1.PodCondition{
		Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now(),
		ObservedGeneration: pod.Generation,
		Reason:             "DeletionByPodGC", Message: "PodGC: node no longer exists",
	})
}

// remove deletes a pod for good. One that has not ended is marked as failed before, for
// the sake of those who count: a Job, for one.
func (c *podCollector) remove(ctx context.Context, pod *corev1.Pod, why *corev1.PodCondition) error {
	pods := c.client.CoreV1().Pods(pod.Namespace)
	if pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed {
		failed := pod.DeepCopy()
		failed.Status.Phase = corev1.PodFailed
		if why != nil {
			failed.Status.Conditions = append(withoutCondition(failed.Status.Conditions, why.Type), *why)
		}
		if _, err := pods.UpdateStatus(ctx, failed, metav1.UpdateOptions{}); err != nil {
			return ignoreNotFound(err)
		}
	}
	return ignoreNotFound(pods.Delete(ctx, pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: ptr.To[int64](0), Preconditions: metav1.NewUIDPreconditions(string(pod.UID)),
	}))
}

func withoutCondition(conditions []corev1.PodCondition, kind corev1.PodConditionType) []corev1.PodCondition {
	return slices.DeleteFunc(conditions, func(c corev1.PodCondition) bool { return c.Type == kind })
}

// collectTerminated removes the oldest pods that have ended when there are too many.
func (c *podCollector) collectTerminated(ctx context.Context) {
	tick := time.NewTicker(terminatedPodsPeriod)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for _, pod := range c.surplus(terminatedPods) {
			if err := c.remove(ctx, pod, nil); err != nil {
				break // the next round tries again
			}
		}
	}
}

// surplus lists the ended pods beyond the number to keep, oldest first.
func (c *podCollector) surplus(keep int) []*corev1.Pod {
	pods, err := c.pods.List(labels.Everything())
	if err != nil || len(pods) <= keep {
		return nil
	}
	pods = slices.DeleteFunc(pods, func(p *corev1.Pod) bool {
		return p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed
	})
	slices.SortFunc(pods, func(a, b *corev1.Pod) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	return pods[:max(0, len(pods)-keep)]
}
