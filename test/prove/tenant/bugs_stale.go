package main

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"time"
)

// generateName has the API server name the shards, and makes as many as the cached list lacks. A list that has not seen
// the last create yet has one made too many, which nothing deletes. controller-runtime's issue 1464 is about such
// reads.
func generateName(o *operator, _ manager.Manager) {
	o.shards = func(ctx context.Context, t *Tenant) error {
		found, err := o.parts(ctx, t, "shard")
		if err != nil {
			return err
		}
		for i := len(found); i < t.Spec.Shards; i++ {
			shard := newShard(t, i)
			shard.Name, shard.GenerateName = "", t.Name+"-shard-"
			shard.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(t, groupVersion.WithKind("Tenant"))}
			if err := o.Create(ctx, shard); err != nil {
				return err
			}
		}
		for i := t.Spec.Shards; i < len(found) && t.Spec.Shards < t.Status.Shards; i++ {
			if err := o.Delete(ctx, &found[i]); client.IgnoreNotFound(err) != nil {
				return err
			}
		}
		return nil
	}
}

// stalePrune deletes all settings but those that the cached status names, and makes settings only when the status names
// others. If the status is older than the settings, those in use are deleted, and never made again. Sieve's stale
// state: what is read decides a delete.
func stalePrune(o *operator, _ manager.Manager) {
	o.prune = none
	o.settings = func(ctx context.Context, t *Tenant) error {
		if t.Status.Settings != "" {
			if err := o.pruneSettingsBut(ctx, t, t.Status.Settings); err != nil {
				return err
			}
		}
		if t.Status.Settings == settingsName(t) {
			return nil
		}
		if err := o.ensureSettings(ctx, t); err != nil {
			return err
		}
		return o.patchStatus(ctx, t, func(s *TenantStatus) { s.Settings = settingsName(t) })
	}
}

// lostUpdate writes the shared index from the cached copy, without its resource version. A line that another tenant got
// meanwhile is lost. Seen where an object is built anew and "Update" is preferred to a patch.
func lostUpdate(o *operator, _ manager.Manager) {
	o.enlist = func(ctx context.Context, t *Tenant) error {
		index := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: registry, Name: "index"}}
		found, err := o.exists(ctx, index)
		if err != nil || index.Data[t.Name] == t.Namespace {
			return err
		}
		indexed(index, t)
		if !found {
			if err := o.Create(ctx, index); !apierrors.IsAlreadyExists(err) {
				return err
			}
		}
		index.ResourceVersion = ""
		return o.Update(ctx, index)
	}
}

// conflictLoop removes the finalizer from the cached copy again and again until there is no conflict. The copy is never
// read anew, so a conflict with another write has no end, and the only worker is busy for good. Seen as
// retry.RetryOnConflict around a write without a read.
func conflictLoop(o *operator, _ manager.Manager) {
	o.release = func(ctx context.Context, t *Tenant) error {
		return wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(ctx context.Context) (bool, error) {
			err := o.removeFinalizer(ctx, t)
			if apierrors.IsConflict(err) {
				return false, nil
			}
			return true, err
		})
	}
}

// memoryEdge changes the Deployment only if the tenant differs from what the process remembers of it. A restart
// forgets, and a failed write was remembered before it was done. Seen as handlers that compare the old object with the
// new one.
func memoryEdge(o *operator, _ manager.Manager) {
	var mu sync.Mutex
	seen := map[types.UID]TenantSpec{}
	o.deployment = func(ctx context.Context, t *Tenant) error {
		mu.Lock()
		last, known := seen[t.UID]
		seen[t.UID] = t.deepCopy().Spec
		mu.Unlock()
		found, err := o.exists(ctx, newDeployment(t))
		if err != nil || found && (!known || equality.Semantic.DeepEqual(last, t.Spec)) {
			return err
		}
		return o.ensureDeployment(ctx, t)
	}
}

// unobservedShard deletes the shards between the count in the status and the wanted one. It looks at no shard, so those
// of a count that was wanted only for a moment, or whose count was not recorded, stay. Sieve's unobserved state.
func unobservedShard(o *operator, _ manager.Manager) {
	o.shards = func(ctx context.Context, t *Tenant) error {
		for i := range t.Spec.Shards {
			if err := o.ensure(ctx, t, newShard(t, i), func() {}); err != nil {
				return err
			}
		}
		for i := t.Status.Shards - 1; i >= t.Spec.Shards; i-- {
			if err := o.Delete(ctx, newShard(t, i)); client.IgnoreNotFound(err) != nil {
				return err
			}
		}
		return nil
	}
}

// unobservedRemoval has no finalizer. It takes the tenant out of the registry when it sees the deletion of one that it
// has seen, which a stopped operator does not. Sieve's unobserved state: work that hangs on one event.
func unobservedRemoval(o *operator, _ manager.Manager) {
	var seen sync.Map
	o.gone = func(ctx context.Context, name types.NamespacedName) error {
		if _, known := seen.Load(name); !known {
			return nil
		}
		return o.cleanUp(ctx, &Tenant{ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name}})
	}
	o.hold = func(_ context.Context, t *Tenant) error {
		seen.Store(client.ObjectKeyFromObject(t), true)
		return nil
	}
}
