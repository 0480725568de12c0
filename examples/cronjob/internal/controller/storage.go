// Copyright 2026 The cronjob authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	batchv1 "tutorial.kubebuilder.io/project/api/v1"
	"tutorial.kubebuilder.io/project/internal/storage"
)

// storageFinalizer keeps a CronJob until its storage is deleted.
const storageFinalizer = "storage.finalizers.tutorial.kubebuilder.io/cronjob"

// storageVariable names the folder, outside of the cluster, in which storage is kept.
const storageVariable = "STORAGE_DIR"

// errNoStorage says why a CronJob cannot go.
var errNoStorage = errors.New("the CronJob has storage, but " + storageVariable + " does not say where: set it and " +
	"start the operator again, or remove the finalizer " + storageFinalizer + " by hand and leave the storage behind")

// Storage is what exists outside of the cluster for each CronJob. Every method may be called again after it
// has done its work: the operator may be stopped before it notes that.
type Storage interface {
	Create(ctx context.Context, owner types.UID) error
	Record(ctx context.Context, owner types.UID, run string, at time.Time) error
	Delete(ctx context.Context, owner types.UID) error
}

// storageFromEnvironment is the folder that the environment names, or nil.
func storageFromEnvironment() Storage {
	if dir := os.Getenv(storageVariable); dir != "" {
		return storage.Folder(dir)
	}
	return nil
}

// claimStorage makes sure of the CronJob's storage in every pass, the finalizer first: what exists without it
// might be left behind.
func (r *CronJobReconciler) claimStorage(ctx context.Context, cronJob *batchv1.CronJob) error {
	if r.Storage == nil {
		return nil
	}
	claimed := cronJob.DeepCopy()
	if controllerutil.AddFinalizer(claimed, storageFinalizer) {
		if err := r.patchFinalizers(ctx, claimed, cronJob); err != nil {
			return fmt.Errorf("add the finalizer: %w", err)
		}
		*cronJob = *claimed
	}
	return r.Storage.Create(ctx, cronJob.UID)
}

// storageCondition reports the state of the storage, if there is any.
func (r *CronJobReconciler) storageCondition(cronJob *batchv1.CronJob, failed error) *metav1.Condition {
	switch {
	case failed != nil:
		return problem(batchv1.ConditionStorageReady, batchv1.ReasonStorageFailed, failed)
	case r.Storage != nil:
		return &metav1.Condition{Type: batchv1.ConditionStorageReady, Status: metav1.ConditionTrue, Reason: batchv1.ReasonStorageCreated}
	case controllerutil.ContainsFinalizer(cronJob, storageFinalizer):
		return problem(batchv1.ConditionStorageReady, batchv1.ReasonStorageUnknown, errNoStorage)
	default:
		return nil
	}
}

// finalize deletes the storage of a CronJob that is being deleted, and then lets the CronJob go. When the
// operator is stopped in between, the next one finds nothing to delete and goes on.
func (r *CronJobReconciler) finalize(ctx context.Context, cronJob *batchv1.CronJob) error {
	if !controllerutil.ContainsFinalizer(cronJob, storageFinalizer) {
		return nil
	}
	if r.Storage == nil { // only another operator can know more
		return r.keep(ctx, cronJob, nil, reconcile.TerminalError(errNoStorage))
	}
	if err := r.Storage.Delete(ctx, cronJob.UID); err != nil {
		return r.keep(ctx, cronJob, err, err)
	}
	released := cronJob.DeepCopy()
	controllerutil.RemoveFinalizer(released, storageFinalizer)
	if err := r.patchFinalizers(ctx, released, cronJob); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("remove the finalizer: %w", err)
	}
	logf.FromContext(ctx).Info("Deleted the storage")
	return nil
}

// keep reports why a CronJob that is being deleted stays, and returns the error that says so.
func (r *CronJobReconciler) keep(ctx context.Context, cronJob *batchv1.CronJob, failed, why error) error {
	status := cronJob.DeepCopy().Status
	setCondition(&status, *r.storageCondition(cronJob, failed), cronJob.Generation, r.Clock.Now())
	if err := r.writeStatus(ctx, cronJob, status); err != nil {
		return errors.Join(err, failed)
	}
	r.reportTrouble(cronJob, status)
	return why
}

// recordRun notes a run in the storage before it starts: the record has every run, and one that was about to start.
func (r *CronJobReconciler) recordRun(ctx context.Context, cronJob *batchv1.CronJob, run string, at time.Time) error {
	if r.Storage == nil {
		return nil
	}
	return r.Storage.Record(ctx, cronJob.UID, run, at)
}

// patchFinalizers writes the finalizers, which are a list as a whole, unless the object has changed since it was read.
func (r *CronJobReconciler) patchFinalizers(ctx context.Context, changed, read *batchv1.CronJob) error {
	return r.Patch(ctx, changed, client.MergeFromWithOptions(read, client.MergeFromWithOptimisticLock{}))
}
