package main

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// serviceAfterCreate makes the Service only where it has just made the Deployment. After a kill between the two, the
// Service is missing forever. Sieve's intermediate state: operators initialise what they create in the same branch.
func serviceAfterCreate(o *operator, _ manager.Manager) {
	o.service = none
	o.deployment = func(ctx context.Context, t *Tenant) error {
		d := newDeployment(t)
		result, err := controllerutil.CreateOrUpdate(ctx, o.Client, d, func() error {
			setDeployment(d, t)
			return controllerutil.SetControllerReference(t, d, o.Scheme())
		})
		if err != nil || result != controllerutil.OperationResultCreated {
			return err
		}
		return o.ensureService(ctx, t)
	}
}

// progressFirst records in the status that the tenant is registered before it is, and then never looks again. Sieve's
// intermediate state: a phase is written before the phase's work.
func progressFirst(o *operator, _ manager.Manager) {
	o.register = func(ctx context.Context, t *Tenant) error {
		if t.Status.Registered {
			return nil
		}
		if err := o.patchStatus(ctx, t, func(s *TenantStatus) { s.Registered = true }); err != nil {
			return err
		}
		return o.ensureEntry(ctx, t)
	}
}

// ownerLater creates a shard first and gives it its owner with a second write. After a kill between the two the shard
// has none, and stays when its tenant goes. Seen where a helper creates objects and another one adopts them.
func ownerLater(o *operator, _ manager.Manager) {
	o.shards = func(ctx context.Context, t *Tenant) error {
		for i := range t.Spec.Shards {
			shard := newShard(t, i)
			if found, err := o.exists(ctx, shard); err != nil {
				return err
			} else if found {
				continue
			}
			if err := o.Create(ctx, shard); err != nil {
				return err
			}
			if err := controllerutil.SetControllerReference(t, shard, o.Scheme()); err != nil {
				return err
			}
			if err := o.Update(ctx, shard); err != nil {
				return err
			}
		}
		return o.deleteShards(ctx, t)
	}
}

// partialStatus writes the status in two steps. The first one sets observedGeneration, by which the second one decides
// whether there is anything to do. Seen where each sub-reconciler writes its own part of the status.
func partialStatus(o *operator, _ manager.Manager) {
	o.report = func(ctx context.Context, t *Tenant) error {
		changed := t.Status.ObservedGeneration != t.Generation
		before := t.deepCopy()
		condition, err := o.ready(ctx, t)
		if err != nil {
			return err
		}
		t.Status.ObservedGeneration = t.Generation
		meta.SetStatusCondition(&t.Status.Conditions, condition)
		if !equality.Semantic.DeepEqual(before.Status, t.Status) {
			if err := o.Status().Update(ctx, t); err != nil {
				return err
			}
		}
		if !changed {
			return nil
		}
		return o.patchStatus(ctx, t, func(s *TenantStatus) {
			s.Shards, s.Settings, s.Registered = t.Spec.Shards, settingsName(t), true
		})
	}
}

// createErrorDone logs that a shard could not be created, and counts it as there. Seen as "if err != nil { log }"
// before a counter in the status that says where to go on.
func createErrorDone(o *operator, _ manager.Manager) {
	o.shards = func(ctx context.Context, t *Tenant) error {
		for i := t.Status.Shards; i < t.Spec.Shards; i++ {
			shard := newShard(t, i)
			if err := o.ensure(ctx, t, shard, func() {}); err != nil {
				klog.ErrorS(err, "Cannot create the shard", "shard", shard.Name)
			}
		}
		return o.deleteShards(ctx, t)
	}
}

// alreadyExists creates the line in the registry without a look, and takes AlreadyExists for an error that another try
// cannot mend. After a kill, or after an answer that was lost, the tenant is never registered in the status, and all
// later steps are left out. Frequent where a create is guarded by a status field.
func alreadyExists(o *operator, _ manager.Manager) {
	o.register = func(ctx context.Context, t *Tenant) error {
		if t.Status.Registered {
			return o.ensureEntry(ctx, t)
		}
		entry := newEntry(t)
		entry.Data = map[string]string{"title": t.Spec.Title}
		err := o.Create(ctx, entry)
		if apierrors.IsAlreadyExists(err) {
			return reconcile.TerminalError(err)
		}
		if err != nil {
			return err
		}
		return o.patchStatus(ctx, t, func(s *TenantStatus) { s.Registered = true })
	}
}
