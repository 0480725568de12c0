package rehearsal

import (
	"context"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/slipway-dev/slipway/internal/ship"
)

var (
	leaseKind = schema.GroupKind{Group: "coordination.k8s.io", Kind: "Lease"}
	leases    = schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}
	pods      = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
)

// compareLocks finds a leader whose lock the other revision does not use.
func (u *upgrade) compareLocks(phase Phase, after *snapshot) (findings []Finding) {
	was, is := u.locks(u.before), u.locks(after)
	for lock := range is {
		if len(was) == 0 || was[lock] {
			continue
		}
		findings = append(findings, Finding{Phase: phase, Class: LockRenamed, Object: "lease/" + lock, Fatal: true,
			Text: "the other revision leads by " + strings.Join(sortedKeys(was), ", ") + ": during a rollout both lead at once"})
	}
	return findings
}

// locks are the leases that managers of the operator have taken.
func (u *upgrade) locks(s *snapshot) map[string]bool {
	found := map[string]bool{}
	for at, o := range s.others {
		if at.GroupKind == leaseKind && u.namespaces()[at.Namespace] && holder(o) != "" {
			found[at.Namespace+"/"+at.Name] = true
		}
	}
	return found
}

// namespaces are those in which the operator runs.
func (u *upgrade) namespaces() map[string]bool {
	found := map[string]bool{}
	for _, of := range []Revision{u.From, u.To} {
		for _, o := range of.Objects {
			if ship.IsWorkload(o) {
				found[o.GetNamespace()] = true
			}
		}
	}
	return found
}

// holder is the pod that has a lease: leader election puts a random number behind its name.
func holder(lease *unstructured.Unstructured) string {
	identity, _, _ := unstructured.NestedString(lease.Object, "spec", "holderIdentity")
	pod, _, _ := strings.Cut(identity, "_")
	return pod
}

// awaitLeader waits until a pod leads that goes on to run, if the operator elects leaders: before that, nothing that
// the new revision does is to be seen.
func (u *upgrade) awaitLeader(ctx context.Context) {
	if len(u.locks(u.before)) == 0 {
		return
	}
	_ = wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, u.Patience, true, func(ctx context.Context) (bool, error) {
		for namespace := range u.namespaces() {
			list, err := u.Cluster.Client().Resource(leases).Namespace(namespace).List(ctx, metav1.ListOptions{})
			if err != nil {
				return false, nil // it is asked again
			}
			for _, lease := range list.Items {
				pod, err := u.Cluster.Client().Resource(pods).Namespace(namespace).Get(ctx, holder(&lease), metav1.GetOptions{})
				if err == nil && pod.GetDeletionTimestamp() == nil {
					return true, nil
				}
			}
		}
		return false, nil
	})
}
