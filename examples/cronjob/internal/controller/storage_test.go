// Copyright 2026 The cronjob authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	kbatch "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	batchv1 "tutorial.kubebuilder.io/project/api/v1"
	"tutorial.kubebuilder.io/project/internal/storage"
)

func TestStorageOfACronJob(t *testing.T) {
	t.Parallel()
	f, bucket := newFixtureWithStorage(t)
	f.reconcileAt("00:59:58")
	if !controllerutil.ContainsFinalizer(f.current(), storageFinalizer) {
		t.Errorf("finalizers: %v", f.current().Finalizers)
	}
	bucket.wantRecord(f.cronJob.UID)

	before := f.current().ResourceVersion
	f.reconcileAt("00:59:59")
	if got := f.current().ResourceVersion; got != before {
		t.Errorf("the CronJob was written again: resource version %s, before %s", got, before)
	}

	f.startRun("01:00:00", kbatch.JobComplete)
	f.reconcileAt("01:00:05")
	f.startRun("02:00:00", kbatch.JobComplete)
	bucket.wantRecord(f.cronJob.UID, "hourly-2524611600", "hourly-2524615200")

	f.deleteCronJob()
	f.reconcileAt("02:00:01")
	f.wantGone()
	bucket.wantDeleted(1)
	f.reconcileAt("02:00:02")
	bucket.wantDeleted(1)
}

func TestCronJobStaysUntilItsStorageIsDeleted(t *testing.T) {
	t.Parallel()
	f, bucket := newFixtureWithStorage(t)
	f.reconcileAt("00:30:00")
	f.deleteCronJob()

	bucket.broken = errors.New("the bucket does not answer")
	for range 2 {
		if _, err := f.tryReconcileAt(at(t, "00:31:00")); !errors.Is(err, bucket.broken) {
			t.Errorf("got %v, want %v", err, bucket.broken)
		}
		f.wantCondition(batchv1.ConditionStorageReady, metav1.ConditionFalse, batchv1.ReasonStorageFailed)
	}
	f.wantEvents("Warning StorageFailed")
	bucket.wantDeleted(0)

	bucket.broken = nil
	f.reconcileAt("00:32:00")
	f.wantGone()
	bucket.wantDeleted(1)
}

// The operator is killed after the storage was deleted and before the CronJob is let go.
func TestOperatorIsKilledWhileItDeletes(t *testing.T) {
	t.Parallel()
	f, bucket := newFixtureWithStorage(t)
	f.reconcileAt("00:30:00")
	f.deleteCronJob()

	first := *f.CronJobReconciler
	first.Client = killed{f.Client}
	if _, err := first.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(f.cronJob)}); !errors.Is(err, errKilled) {
		t.Fatalf("got %v, want %v", err, errKilled)
	}
	bucket.wantDeleted(1)
	f.current()

	f.reconcileAt("00:31:00")
	f.wantGone()
	bucket.wantDeleted(1)
}

// A run of a CronJob that is being deleted does not start, or it would be recorded once more.
func TestNothingStartsWhileTheCronJobGoes(t *testing.T) {
	t.Parallel()
	f, bucket := newFixtureWithStorage(t)
	f.reconcileAt("00:30:00")
	f.deleteCronJob()
	bucket.broken = errors.New("the bucket does not answer")
	_, _ = f.tryReconcileAt(at(t, "01:00:00"))
	f.wantRuns()
	bucket.wantRecord(f.cronJob.UID)
	bucket.broken = nil
	f.reconcileAt("01:00:01")
	f.wantGone()
}

// Storage that could not be created is created later, and no run starts before.
func TestStorageIsCreatedInTheEnd(t *testing.T) {
	t.Parallel()
	f, bucket := newFixtureWithStorage(t)
	bucket.broken = errors.New("the bucket does not answer")
	for _, clock := range []string{"00:30:00", "01:00:00"} {
		if _, err := f.tryReconcileAt(at(t, clock)); !errors.Is(err, bucket.broken) {
			t.Errorf("got %v, want %v", err, bucket.broken)
		}
		f.wantCondition(batchv1.ConditionStorageReady, metav1.ConditionFalse, batchv1.ReasonStorageFailed)
	}
	f.wantEvents("Warning StorageFailed", "Warning StartFailed")
	f.wantRuns()
	if !controllerutil.ContainsFinalizer(f.current(), storageFinalizer) {
		t.Errorf("finalizers: %v", f.current().Finalizers)
	}

	bucket.broken = nil
	f.reconcileAt("01:00:01")
	f.wantCondition(batchv1.ConditionStorageReady, metav1.ConditionTrue, batchv1.ReasonStorageCreated)
	f.wantRuns("01:00:00")
	bucket.wantRecord(f.cronJob.UID, "hourly-2524611600")
}

func TestNewCronJobOfTheSameNameHasStorageOfItsOwn(t *testing.T) {
	k8sClient := controlPlane(t)
	t.Parallel()
	f, bucket := newFixtureWithStorage(t)
	f.startRun("01:00:00", kbatch.JobComplete)
	f.deleteCronJob()
	f.reconcileAt("01:00:01")
	f.wantGone()

	old := f.cronJob.UID
	f.cronJob = hourlyCronJob(f.cronJob.Namespace)
	if err := k8sClient.Create(t.Context(), f.cronJob); err != nil {
		t.Fatal(err)
	}
	f.reconcileAt("01:00:02")
	bucket.wantRecord(f.cronJob.UID)
	if _, err := os.Stat(filepath.Join(bucket.dir, string(old))); !os.IsNotExist(err) {
		t.Errorf("the old storage is there again: %v", err)
	}
	f.deleteCronJob()
	f.reconcileAt("01:00:03")
	bucket.wantDeleted(2)
}

// Without a place for storage nothing is claimed, and no CronJob that has some is let go.
func TestOperatorWithoutStorage(t *testing.T) {
	t.Parallel()
	f, bucket := newFixtureWithStorage(t)
	with := f.Storage
	f.Storage = nil
	f.reconcileAt("00:30:00")
	if got := f.current().Finalizers; len(got) > 0 {
		t.Errorf("finalizers: %v", got)
	}

	f.Storage = with
	f.reconcileAt("00:31:00")
	f.Storage = nil
	f.deleteCronJob()
	if _, err := f.tryReconcileAt(at(t, "00:32:00")); !errors.Is(err, reconcile.TerminalError(nil)) || !strings.Contains(err.Error(), storageVariable) {
		t.Errorf("got %v, want a terminal error that names %s", err, storageVariable)
	}
	f.wantEvents("Warning StorageUnknown")
	f.wantCondition(batchv1.ConditionStorageReady, metav1.ConditionFalse, batchv1.ReasonStorageUnknown)

	f.Storage = with
	f.reconcileAt("00:33:00")
	f.wantGone()
	bucket.wantDeleted(1)
}

func TestRunThatCannotBeRecordedDoesNotStart(t *testing.T) {
	t.Parallel()
	f, bucket := newFixtureWithStorage(t)
	f.reconcileAt("00:30:00")
	failures := metric(t, "goober_failures_total")
	bucket.broken = errors.New("the bucket is full")
	if _, err := f.tryReconcileAt(at(t, "01:00:00")); !errors.Is(err, bucket.broken) {
		t.Errorf("got %v, want %v", err, bucket.broken)
	}
	f.wantRuns()
	if got := metric(t, "goober_failures_total"); got <= failures {
		t.Errorf("goober_failures_total is %v, was %v", got, failures)
	}
	bucket.broken = nil
	f.reconcileAt("01:00:01")
	f.wantRuns("01:00:00")
	bucket.wantRecord(f.cronJob.UID, "hourly-2524611600")
}

// bucket is storage in a folder of the test's, which counts and can fail.
type bucket struct {
	*testing.T
	storage.Folder
	dir string

	mu      sync.Mutex
	deleted int
	broken  error
}

// newFixtureWithStorage returns a fixture whose CronJobs have storage, and that.
func newFixtureWithStorage(t *testing.T) (*fixture, *bucket) {
	t.Helper()
	f := newFixture(t)
	dir := t.TempDir()
	b := &bucket{T: t, Folder: storage.Folder(dir), dir: dir}
	f.Storage = b
	t.Cleanup(f.letGo)
	return f, b
}

func (b *bucket) Create(ctx context.Context, owner types.UID) error {
	if b.broken != nil {
		return b.broken
	}
	return b.Folder.Create(ctx, owner)
}

func (b *bucket) Record(ctx context.Context, owner types.UID, run string, at time.Time) error {
	if b.broken != nil {
		return b.broken
	}
	return b.Folder.Record(ctx, owner, run, at)
}

// Delete counts what it really deletes.
func (b *bucket) Delete(ctx context.Context, owner types.UID) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.broken != nil {
		return b.broken
	}
	if _, err := os.Stat(filepath.Join(b.dir, string(owner))); err == nil {
		b.deleted++
	}
	return b.Folder.Delete(ctx, owner)
}

func (b *bucket) wantDeleted(want int) {
	b.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.deleted != want {
		b.Errorf("storage was deleted %d times, want %d", b.deleted, want)
	}
}

// wantRecord: the owner has storage, with these runs recorded.
func (b *bucket) wantRecord(owner types.UID, want ...string) {
	b.Helper()
	entries, err := os.ReadDir(filepath.Join(b.dir, string(owner)))
	if err != nil {
		b.Fatal(err)
	}
	var got []string
	for _, entry := range entries {
		got = append(got, entry.Name())
	}
	if !slices.Equal(got, want) {
		b.Errorf("recorded: got %v, want %v", got, want)
	}
}

// killed is the client of an operator that is killed before it removes a finalizer.
type killed struct{ client.Client }

var errKilled = errors.New("killed")

func (killed) Patch(context.Context, client.Object, client.Patch, ...client.PatchOption) error {
	return errKilled
}

// deleteCronJob deletes the CronJob as a user does. Its finalizer keeps it.
func (f *fixture) deleteCronJob() {
	f.Helper()
	k8sClient := controlPlane(f.T)
	if err := k8sClient.Delete(f.Context(), f.current()); err != nil {
		f.Fatal(err)
	}
	f.eventually("the CronJob is being deleted", func() bool { return f.current().DeletionTimestamp != nil })
}

func (f *fixture) wantGone() {
	f.Helper()
	k8sClient := controlPlane(f.T)
	f.eventually("the CronJob is gone", func() bool {
		return apierrors.IsNotFound(k8sClient.Get(f.Context(), client.ObjectKeyFromObject(f.cronJob), &batchv1.CronJob{}))
	})
}

// letGo removes the finalizer that a failed test left, which would keep its namespace.
func (f *fixture) letGo() {
	k8sClient := controlPlane(f.T)
	var cronJob batchv1.CronJob
	ctx := context.Background()
	if k8sClient.Get(ctx, client.ObjectKeyFromObject(f.cronJob), &cronJob) == nil && controllerutil.RemoveFinalizer(&cronJob, storageFinalizer) {
		_ = k8sClient.Update(ctx, &cronJob)
	}
}
