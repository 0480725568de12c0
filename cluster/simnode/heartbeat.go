package simnode

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/retry"
	"k8s.io/component-helpers/apimachinery/lease"
	helper "k8s.io/kubernetes/pkg/apis/core/v1/helper"
	"k8s.io/utils/clock"
)

// Leases are renewed each quarter of their time, as a kubelet does, but they are shorter than its 40 s: so that the
// loss of a node is noticed after seconds (package controllers, nodes.go). Conditions are reported every five minutes
// when nothing changed, as a kubelet does.
const (
	leaseSeconds      = 8
	leaseRenewal      = leaseSeconds * time.Second / 4
	heartbeatInterval = 5 * time.Minute
)

// conditions are those of a healthy kubelet.
func conditions(now time.Time) []corev1.NodeCondition {
	at := metav1.NewTime(now)
	condition := func(kind corev1.NodeConditionType, status corev1.ConditionStatus, reason, message string) corev1.NodeCondition {
		return corev1.NodeCondition{Type: kind, Status: status, Reason: reason, Message: message, LastHeartbeatTime: at, LastTransitionTime: at}
	}
	return []corev1.NodeCondition{
		condition(corev1.NodeMemoryPressure, corev1.ConditionFalse, "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
		condition(corev1.NodeDiskPressure, corev1.ConditionFalse, "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
		condition(corev1.NodePIDPressure, corev1.ConditionFalse, "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
		condition(corev1.NodeReady, corev1.ConditionTrue, "KubeletReady", "kubelet is posting ready status"),
	}
}

// heartbeats keeps a node's lease and conditions fresh until ctx ends.
func heartbeats(ctx context.Context, client kubernetes.Interface, node *corev1.Node, log *slog.Logger) {
	var group sync.WaitGroup
	defer group.Wait()
	group.Go(func() { holdLease(ctx, client, node) })
	ticker := time.NewTicker(heartbeatInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			err := beat(ctx, client, node.Name, time.Now())
			if err != nil && ctx.Err() == nil {
				log.Warn("node heartbeat failed", "node", node.Name, "error", err)
			}
		}
	}
}

func holdLease(ctx context.Context, client kubernetes.Interface, node *corev1.Node) {
	owned := func(l *coordinationv1.Lease) error {
		if len(l.OwnerReferences) == 0 {
			l.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: node.Name, UID: node.UID}}
		}
		return nil
	}
	lease.NewController(clock.RealClock{}, client, node.Name, leaseSeconds, nil, leaseRenewal, node.Name, corev1.NamespaceNodeLease, owned).Run(ctx)
}

// beat reports the node's conditions at now, and extended resources that it was given; a condition that did not change
// keeps its transition time.
func beat(ctx context.Context, client kubernetes.Interface, name string, now time.Time) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		node, err := client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		node.Status.Conditions = refreshed(node.Status.Conditions, conditions(now))
		node.Status.Allocatable = allocatable(node.Status)
		_, err = client.CoreV1().Nodes().UpdateStatus(ctx, node, metav1.UpdateOptions{})
		return err
	})
}

// allocatable is what a status reports as such, with the extended resources of its capacity and no others: users
// advertise one by writing to the capacity of a Node.
func allocatable(s corev1.NodeStatus) corev1.ResourceList {
	result := maps.Clone(s.Allocatable)
	if result == nil {
		result = corev1.ResourceList{}
	}
	maps.DeleteFunc(result, func(name corev1.ResourceName, _ resource.Quantity) bool { return helper.IsExtendedResourceName(name) })
	for name, amount := range s.Capacity {
		if helper.IsExtendedResourceName(name) {
			result[name] = amount.DeepCopy()
		}
	}
	return result
}

// refreshed is old with the current conditions put in; conditions of other types are somebody else's and stay.
func refreshed(old, current []corev1.NodeCondition) []corev1.NodeCondition {
	var result []corev1.NodeCondition
	byType := map[corev1.NodeConditionType]corev1.NodeCondition{}
	for _, c := range current {
		byType[c.Type] = c
	}
	for _, o := range old {
		c, ours := byType[o.Type]
		switch {
		case !ours:
			c = o
		case c.Status == o.Status:
			c.LastTransitionTime = o.LastTransitionTime
		}
		delete(byType, o.Type)
		result = append(result, c)
	}
	for _, c := range current {
		if _, left := byType[c.Type]; left {
			result = append(result, c)
		}
	}
	return result
}
