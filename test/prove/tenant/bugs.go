package main

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// bugs plants a mistake by its name. The classes are those of Sieve (OSDI 2022: intermediate, stale and unobserved
// states) and Acto (SOSP 2023: what is declared against what was declared before), and what issues of operators and of
// controller-runtime report again and again.
var bugs = map[string]func(*operator, manager.Manager){
	// Intermediate states
	"service-after-create": serviceAfterCreate,
	"progress-first":       progressFirst,
	"owner-later":          ownerLater,
	"partial-status":       partialStatus,
	"create-error-done":    createErrorDone,
	"already-exists":       alreadyExists,
	// Stale and unobserved states
	"generate-name":      generateName,
	"stale-prune":        stalePrune,
	"lost-update":        lostUpdate,
	"conflict-loop":      conflictLoop,
	"memory-edge":        memoryEdge,
	"unobserved-shard":   unobservedShard,
	"unobserved-removal": unobservedRemoval,
	// Deletions
	"no-owner":        noOwner,
	"finalizer-first": finalizerFirst,
	"finalizer-stuck": finalizerStuck,
	"async-clean-up":  asyncCleanUp,
	"panic-not-found": panicNotFound,
	"delete-by-name":  deleteByName,
	// Errors
	"secret-late":       secretLate,
	"error-swallowed":   errorSwallowed,
	"requeue-forgotten": requeueForgotten,
	"conflict-success":  conflictSuccess,
	// Starts and history
	"start-counter": startCounter,
	"start-stamp":   startStamp,
	"labels-stay":   labelsStay,
}

// patchStatus writes a change of the status.
func (o *operator) patchStatus(ctx context.Context, t *Tenant, change func(*TenantStatus)) error {
	before := t.deepCopy()
	change(&t.Status)
	return o.Status().Patch(ctx, t, client.MergeFrom(before))
}

// exists is whether the object is there.
func (o *operator) exists(ctx context.Context, object client.Object) (bool, error) {
	err := o.Get(ctx, client.ObjectKeyFromObject(object), object)
	return err == nil, client.IgnoreNotFound(err)
}

// none is the step that another one does, too.
func none(context.Context, *Tenant) error { return nil }
