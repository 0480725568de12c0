package certmanager

import (
	"context"
	"fmt"
	"strings"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// managers are the operator's pods that are ready and to stay.
func (o operator) managers(t *testing.T) []string {
	t.Helper()
	var names []string
	eventually(t, "the managers are not ready", func(ctx context.Context) error {
		var pods corev1.PodList
		names = nil
		if err := o.List(ctx, &pods, client.InNamespace(o.namespace), client.MatchingLabels{"control-plane": "controller-manager"}); err != nil {
			return err
		}
		for _, pod := range pods.Items {
			if pod.DeletionTimestamp == nil && ready(pod) {
				names = append(names, pod.Name)
			}
		}
		if len(names) != 2 {
			return fmt.Errorf("%d are ready", len(names))
		}
		return nil
	})
	return names
}

func ready(pod corev1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// takeOver kills the manager that leads, and waits until the other one does.
func (o operator) takeOver(t *testing.T) {
	t.Helper()
	before := o.leader(t, "")
	pod := &corev1.Pod{}
	pod.Namespace, pod.Name = o.namespace, before
	if err := o.Delete(t.Context(), pod, client.GracePeriodSeconds(0)); err != nil {
		t.Fatal(err)
	}
	o.leader(t, before)
	o.managers(t)
}

// leader waits until a pod leads that is not the one named.
func (o operator) leader(t *testing.T, not string) (pod string) {
	t.Helper()
	eventually(t, "nobody leads", func(ctx context.Context) error {
		var leases coordinationv1.LeaseList
		if err := o.List(ctx, &leases, client.InNamespace(o.namespace)); err != nil {
			return err
		}
		if len(leases.Items) != 1 || leases.Items[0].Spec.HolderIdentity == nil {
			return fmt.Errorf("%d leases", len(leases.Items))
		}
		if pod, _, _ = strings.Cut(*leases.Items[0].Spec.HolderIdentity, "_"); pod == "" || pod == not {
			return fmt.Errorf("the leader is %q", pod)
		}
		return nil
	})
	return pod
}
