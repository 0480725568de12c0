// Copyright 2026 The cronjob authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
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

// claimStorage creates the CronJob's storage, the finalizer first: what exists without it might be left behind.
func (r *CronJobReconciler) claimStorage(ctx context.Context, cronJob *batchv1.CronJob) error {
	if r.Storage == nil || controllerutil.ContainsFinalizer(cronJob, storageFinalizer) {
		return nil
	}
	read := cronJob.DeepCopy()
	controllerutil.AddFinalizer(cronJob, storageFinalizer)
	if err := r.patchFinalizers(ctx, cronJob, read); err != nil {
		return fmt.Errorf("add the finalizer: %w", err)
	}
	return r.Storage.Create(ctx, cronJob.UID)
}

// finalize deletes the storage of a CronJob that is being deleted, and then lets the CronJob go. When the
// operator is stopped in between, the next one finds nothing to delete and goes on.
func (r *CronJobReconciler) finalize(ctx context.Context, cronJob *batchv1.CronJob) error {
	if !controllerutil.ContainsFinalizer(cronJob, storageFinalizer) {
		return nil
	}
	if r.Storage == nil {
		r.Recorder.Eventf(cronJob, nil, corev1.EventTypeWarning, "StorageUnknown", "Delete", "%s", errNoStorage)
		return reconcile.TerminalError(errNoStorage)
	}
	if err := r.Storage.Delete(ctx, cronJob.UID); err != nil {
		r.Recorder.Eventf(cronJob, nil, corev1.EventTypeWarning, "StorageNotDeleted", "Delete", "%.900s", err)
		return err
	}
	read := cronJob.DeepCopy()
	controllerutil.RemoveFinalizer(cronJob, storageFinalizer)
	if err := r.patchFinalizers(ctx, cronJob, read); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("remove the finalizer: %w", err)
	}
	logf.FromContext(ctx).Info("Deleted the storage")
	return nil
}

// recordRun notes a run in the storage before it starts: the record has every run, and one that was about to start.
func (r *CronJobReconciler) recordRun(ctx context.Context, cronJob *batchv1.CronJob, run string, at time.Time) error {
	if r.Storage == nil {
		return nil
	}
	return r.Storage.Record(ctx, cronJob.UID, run, at)
}

// patchFinalizers writes the finalizers, which are a list as a whole, unless somebody has changed the object since.
func (r *CronJobReconciler) patchFinalizers(ctx context.Context, cronJob, read *batchv1.CronJob) error {
	return r.Patch(ctx, cronJob, client.MergeFromWithOptions(read, client.MergeFromWithOptimisticLock{}))
}
