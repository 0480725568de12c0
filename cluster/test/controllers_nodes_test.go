package test

import (
	"context"
	"slices"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// makeNode makes a node of somebody else's: it is ready, and nobody runs pods on it.
func makeNode(t *testing.T, c clients, name string) {
	t.Helper()
	must[*corev1.Node](t)(c.CoreV1().Nodes().Create(t.Context(), &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.NodeSpec{Taints: []corev1.Taint{{Key: "somebody-elses", Effect: corev1.TaintEffectNoSchedule}}},
		Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{
			Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady",
			LastHeartbeatTime: metav1.Now(), LastTransitionTime: metav1.Now(),
		}}},
	}, metav1.CreateOptions{}))
	must[*coordinationv1.Lease](t)(c.CoordinationV1().Leases(corev1.NamespaceNodeLease).Create(t.Context(), &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: &name, RenewTime: ptr.To(metav1.NowMicro()), LeaseDurationSeconds: ptr.To[int32](8)},
	}, metav1.CreateOptions{}))
}

// makePodOn binds a running pod to a node without asking the scheduler.
func makePodOn(t *testing.T, c clients, ns, name, node string, tolerations ...corev1.Toleration) {
	t.Helper()
	spec := podTemplate(corev1.RestartPolicyAlways).Spec
	spec.NodeName, spec.Tolerations = node, tolerations
	pods := c.CoreV1().Pods(ns)
	must[*corev1.Pod](t)(pods.Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec}, metav1.CreateOptions{}))
	running := []byte(`{"status":{"phase":"Running"}}`)
	must[*corev1.Pod](t)(pods.Patch(t.Context(), name, types.MergePatchType, running, metav1.PatchOptions{}, "status"))
}

// lostNodeIsNoticed shows a node that holds its lease no longer: it becomes unknown after seconds, is
// tainted, and its pods are evicted when their tolerance ends. Once somebody promises that the node is out
// of service, they go for good.
func lostNodeIsNoticed(t *testing.T, c clients, ns string) {
	makeNode(t, c, ns)
	begin := time.Now()
	makePodOn(t, c, ns, "victim", ns, corev1.Toleration{
		Key: corev1.TaintNodeUnreachable, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: ptr.To[int64](0),
	})
	eventually(t, "the node is unknown", func(ctx context.Context) (bool, error) {
		node, err := c.CoreV1().Nodes().Get(ctx, ns, metav1.GetOptions{})
		return err == nil && slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
			return c.Type == corev1.NodeReady && c.Status == corev1.ConditionUnknown
		}), err
	})
	t.Logf("the node was unknown after %v", time.Since(begin))
	eventually(t, "its pod is evicted", func(ctx context.Context) (bool, error) {
		pod, err := c.CoreV1().Pods(ns).Get(ctx, "victim", metav1.GetOptions{})
		return err == nil && pod.DeletionTimestamp != nil, err
	})
	patch := []byte(`{"spec":{"taints":[{"key":"node.kubernetes.io/out-of-service","effect":"NoExecute"}]}}`)
	must[*corev1.Node](t)(c.CoreV1().Nodes().Patch(t.Context(), ns, types.MergePatchType, patch, metav1.PatchOptions{}))
	eventually(t, "the pod is gone", func(ctx context.Context) (bool, error) {
		_, err := c.CoreV1().Pods(ns).Get(ctx, "victim", metav1.GetOptions{})
		return gone(err)
	})
}

func podsOfDeletedNodeGo(t *testing.T, c clients, ns string) {
	makeNode(t, c, ns)
	makePodOn(t, c, ns, "orphan", ns)
	if err := c.CoreV1().Nodes().Delete(t.Context(), ns, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the pod is gone", func(ctx context.Context) (bool, error) {
		_, err := c.CoreV1().Pods(ns).Get(ctx, "orphan", metav1.GetOptions{})
		return gone(err)
	})
}

// waitAllowed waits until the API server knows a user's new right.
func waitAllowed(t *testing.T, c clients, user, verb, resource string) {
	t.Helper()
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: user, ResourceAttributes: &authorizationv1.ResourceAttributes{Group: "certificates.k8s.io", Resource: resource, Verb: verb},
	}}
	eventually(t, user+" may "+verb+" "+resource, func(ctx context.Context) (bool, error) {
		answer, err := c.AuthorizationV1().SubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
		return err == nil && answer.Status.Allowed, err
	})
}
