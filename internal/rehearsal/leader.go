package rehearsal

import (
	"context"
	"slices"
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

// compareLocks finds leaders that do not know of those of the other revision: none that runs has a lock of theirs.
func (u *upgrade) compareLocks(phase Phase, after *snapshot) (findings []Finding) {
	was, is := u.locks(u.before.others), u.locks(after.others)
	if len(was) == 0 || len(is) == 0 || slices.ContainsFunc(is, func(lock string) bool { return slices.Contains(was, lock) }) {
		return nil
	}
	return []Finding{{Phase: phase, Class: LockRenamed, Object: "lease/" + is[0], Fatal: true,
		Text: "the other revision leads by " + strings.Join(was, ", ") + ": during a rollout both lead at once"}}
}

// locks are the leases that running pods of the operator have, by namespace and name.
func (u *upgrade) locks(objects map[identity]*unstructured.Unstructured) (found []string) {
	for at, lease := range objects {
		if at.GroupKind != leaseKind || !u.namespaces()[at.Namespace] || holder(lease) == "" {
			continue
		}
		for of, pod := range objects {
			if of.GroupKind == podKind && of.Namespace == at.Namespace && strings.HasPrefix(of.Name, holder(lease)) && pod.GetDeletionTimestamp() == nil {
				found = append(found, at.Namespace+"/"+at.Name)
				break
			}
		}
	}
	slices.Sort(found)
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
	if len(u.locks(u.before.others)) == 0 {
		return
	}
	_ = wait.PollUntilContextTimeout(ctx, 200*time.Millisecond, u.Patience, true, func(ctx context.Context) (bool, error) {
		objects := map[identity]*unstructured.Unstructured{}
		for namespace := range u.namespaces() {
			for _, resource := range []schema.GroupVersionResource{leases, pods} {
				list, err := u.Cluster.Client().Resource(resource).Namespace(namespace).List(ctx, metav1.ListOptions{})
				if err != nil {
					return false, nil // it is asked again
				}
				for i := range list.Items {
					objects[identityOf(&list.Items[i])] = &list.Items[i]
				}
			}
		}
		return len(u.locks(objects)) > 0, nil
	})
}
