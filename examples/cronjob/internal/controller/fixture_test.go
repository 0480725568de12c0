// Copyright 2026 The cronjob authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	kbatch "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"

	batchv1 "tutorial.kubebuilder.io/project/api/v1"
)

// epoch is the midnight at which the tests' day begins, far from the machine's own time.
var epoch = time.Date(2050, time.January, 1, 0, 0, 0, 0, time.UTC)

// fixture is a CronJob in a namespace of its own, and a reconciler whose clock the test sets. The CronJob
// runs every hour, has last run at the epoch, and its Jobs change only when the test says so.
type fixture struct {
	*testing.T
	*CronJobReconciler
	cronJob  *batchv1.CronJob
	clock    *clocktesting.FakePassiveClock
	recorder *events.FakeRecorder
}

func newFixture(t *testing.T, change ...func(*batchv1.CronJobSpec)) *fixture {
	t.Helper()
	k8sClient := controlPlane(t)
	f := newFixtureWithoutRuns(t, change...)
	f.cronJob.Status.LastScheduleTime = &metav1.Time{Time: epoch}
	if err := k8sClient.Status().Update(t.Context(), f.cronJob); err != nil {
		t.Fatal(err)
	}
	return f
}

func newFixtureWithoutRuns(t *testing.T, change ...func(*batchv1.CronJobSpec)) *fixture {
	t.Helper()
	k8sClient := controlPlane(t)
	clock := clocktesting.NewFakePassiveClock(epoch)
	recorder := events.NewFakeRecorder(100)
	f := &fixture{
		T:       t,
		cronJob: hourlyCronJob(newNamespace(t)),
		CronJobReconciler: &CronJobReconciler{
			Client: k8sClient, Scheme: scheme.Scheme, Clock: clock, Recorder: recorder,
		},
		clock:    clock,
		recorder: recorder,
	}
	for _, change := range change {
		change(&f.cronJob.Spec)
	}
	if err := k8sClient.Create(t.Context(), f.cronJob); err != nil {
		t.Fatal(err)
	}
	return f
}

func hourlyCronJob(namespace string) *batchv1.CronJob {
	cronJob := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "hourly"}}
	cronJob.Spec.Schedule = "0 * * * *"
	cronJob.Spec.JobTemplate.Spec = kbatch.JobSpec{
		ManagedBy: ptr.To("tutorial.kubebuilder.io/test"), // in a full cluster: not by its Job controller
		Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			Containers:    []corev1.Container{{Name: "main", Image: "busybox"}},
		}},
	}
	return cronJob
}

func newNamespace(t *testing.T) string {
	t.Helper()
	k8sClient := controlPlane(t)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "cronjob-"}}
	if err := k8sClient.Create(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := k8sClient.Delete(context.Background(), namespace); err != nil {
			t.Error(err)
		}
	})
	return namespace.Name
}

// startCachedClient returns a client with the operator's cache and index, which runs until ctx ends.
func startCachedClient(ctx context.Context, cfg *rest.Config) (client.Client, error) {
	unlimited := rest.CopyConfig(cfg)
	unlimited.QPS = -1
	c, err := cluster.New(unlimited, func(o *cluster.Options) {
		o.Scheme = scheme.Scheme
		o.Client.Cache = &client.CacheOptions{EnableReadYourWritesConsistency: ptr.To(true)}
	})
	if err != nil {
		return nil, err
	}
	if err := indexJobsByOwner(ctx, c.GetFieldIndexer()); err != nil {
		return nil, err
	}
	go c.Start(ctx) //nolint:errcheck // without its cache every test fails
	return c.GetClient(), nil
}

// reconcileAt reconciles once at the time of the day.
func (f *fixture) reconcileAt(clock string) ctrl.Result {
	f.Helper()
	return f.reconcileAtTime(at(f.T, clock))
}

func (f *fixture) reconcileAtTime(now time.Time) ctrl.Result {
	f.Helper()
	result, err := f.tryReconcileAt(now)
	if err != nil {
		f.Fatalf("reconcile at %s: %v", now, err)
	}
	return result
}

func (f *fixture) tryReconcileAt(now time.Time) (ctrl.Result, error) {
	f.clock.SetTime(now)
	return f.Reconcile(f.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(f.cronJob)})
}

// startRun starts the run of the time of the day, and lets it finish.
func (f *fixture) startRun(clock string, outcome kbatch.JobConditionType) {
	f.Helper()
	f.reconcileAt(clock)
	f.finish(f.run(clock), outcome)
}

// current returns the CronJob as it is now.
func (f *fixture) current() *batchv1.CronJob {
	f.Helper()
	k8sClient := controlPlane(f.T)
	var cronJob batchv1.CronJob
	if err := k8sClient.Get(f.Context(), client.ObjectKeyFromObject(f.cronJob), &cronJob); err != nil {
		f.Fatal(err)
	}
	return &cronJob
}

// changeSpec changes the CronJob's spec as a user does, whatever a manager changes meanwhile.
func (f *fixture) changeSpec(change func(*batchv1.CronJobSpec)) {
	f.Helper()
	k8sClient := controlPlane(f.T)
	cronJob := f.current()
	before := cronJob.DeepCopy()
	change(&cronJob.Spec)
	if err := k8sClient.Patch(f.Context(), cronJob, client.MergeFrom(before)); err != nil {
		f.Fatal(err)
	}
}

// forgetRuns makes the status what it was before the first run: the operator was killed before it wrote more.
func (f *fixture) forgetRuns() {
	f.Helper()
	k8sClient := controlPlane(f.T)
	cronJob := f.current()
	cronJob.Status = batchv1.CronJobStatus{LastScheduleTime: &metav1.Time{Time: epoch}}
	if err := k8sClient.Status().Update(f.Context(), cronJob); err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) update(cronJob *batchv1.CronJob) {
	f.Helper()
	k8sClient := controlPlane(f.T)
	if err := k8sClient.Update(f.Context(), cronJob); err != nil {
		f.Fatal(err)
	}
}

// runs returns the times of the day of the namespace's Jobs, in order.
func (f *fixture) runs() []string {
	f.Helper()
	k8sClient := controlPlane(f.T)
	var jobs kbatch.JobList
	if err := k8sClient.List(f.Context(), &jobs, client.InNamespace(f.cronJob.Namespace)); err != nil {
		f.Fatal(err)
	}
	var runs []string
	for _, job := range jobs.Items {
		if job.DeletionTimestamp == nil {
			runs = append(runs, scheduledAt(&job).Format(time.TimeOnly))
		}
	}
	slices.Sort(runs)
	return runs
}

func (f *fixture) wantRuns(want ...string) {
	f.Helper()
	if got := f.runs(); !slices.Equal(got, want) {
		f.Errorf("runs: got %v, want %v", got, want)
	}
}

// run returns the Job of the run scheduled at the time of the day.
func (f *fixture) run(clock string) *kbatch.Job {
	f.Helper()
	k8sClient := controlPlane(f.T)
	var job kbatch.Job
	key := client.ObjectKey{
		Namespace: f.cronJob.Namespace,
		Name:      fmt.Sprintf("%s-%d", f.cronJob.Name, at(f.T, clock).Unix()),
	}
	if err := k8sClient.Get(f.Context(), key, &job); err != nil {
		f.Fatal(err)
	}
	return &job
}

// jobOwnedBy returns an active Job that looks like a run of the CronJob but belongs to the owner, if there is one.
func (f *fixture) jobOwnedBy(owner *batchv1.CronJob, clock string) *kbatch.Job {
	f.Helper()
	job, err := newJob(f.cronJob, at(f.T, clock), f.Scheme)
	if err != nil {
		f.Fatal(err)
	}
	job.OwnerReferences = nil
	if owner != nil {
		job.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(owner, batchv1.GroupVersion.WithKind("CronJob"))}
	}
	return job
}

// finish does what the Job controller does when a Job ends.
func (f *fixture) finish(job *kbatch.Job, outcome kbatch.JobConditionType) {
	f.Helper()
	k8sClient := controlPlane(f.T)
	now := metav1.NewTime(epoch)
	cause := kbatch.JobFailureTarget
	job.Status.StartTime = &now
	if outcome == kbatch.JobComplete {
		cause = kbatch.JobSuccessCriteriaMet
		job.Status.CompletionTime = &now
	}
	for _, kind := range []kbatch.JobConditionType{cause, outcome} {
		job.Status.Conditions = append(job.Status.Conditions,
			kbatch.JobCondition{Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: now})
	}
	if err := k8sClient.Status().Update(f.Context(), job); err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) wantLastSchedule(clock string) {
	f.Helper()
	want := metav1.NewTime(at(f.T, clock))
	if got := f.current().Status.LastScheduleTime; !got.Equal(&want) {
		f.Errorf("last schedule time: got %v, want %v", got, want)
	}
}

func (f *fixture) wantLastMissed(clock string) {
	f.Helper()
	want := metav1.NewTime(at(f.T, clock))
	if got := f.current().Status.LastMissedTime; !got.Equal(&want) {
		f.Errorf("last missed time: got %v, want %v", got, want)
	}
}

func (f *fixture) wantSchedulable(status metav1.ConditionStatus, reason string) {
	f.Helper()
	f.wantCondition(batchv1.ConditionSchedulable, status, reason)
}

func (f *fixture) wantCondition(kind string, status metav1.ConditionStatus, reason string) {
	f.Helper()
	current := f.current()
	got := meta.FindStatusCondition(current.Status.Conditions, kind)
	if got == nil || got.Status != status || got.Reason != reason || got.ObservedGeneration != current.Generation {
		f.Errorf("%s: got %v, want %s because %s, of generation %d", kind, got, status, reason, current.Generation)
	}
}

// events returns the types and reasons of the events since the last call.
func (f *fixture) events() []string {
	var got []string
	for len(f.recorder.Events) > 0 {
		words := strings.SplitN(<-f.recorder.Events, " ", 3)
		got = append(got, words[0]+" "+words[1])
	}
	return got
}

func (f *fixture) wantEvents(want ...string) {
	f.Helper()
	if got := f.events(); !slices.Equal(got, want) {
		f.Errorf("events: got %v, want %v", got, want)
	}
}

// emptyCache is a client whose cache shows no Jobs yet.
type emptyCache struct{ client.Client }

func (emptyCache) List(context.Context, client.ObjectList, ...client.ListOption) error { return nil }

// undeletable is a client that may not delete.
type undeletable struct{ client.Client }

var errUndeletable = errors.New("this may not be deleted")

func (undeletable) Delete(context.Context, client.Object, ...client.DeleteOption) error {
	return errUndeletable
}

// readOnlyClient reads as k8sClient does, and has no permission to write: the API server refuses even a
// write that has no effect.
func readOnlyClient(t *testing.T) client.Client {
	t.Helper()
	k8sClient := controlPlane(t)
	nobody := rest.CopyConfig(testEnv.Config)
	nobody.Impersonate.UserName = "nobody"
	c, err := client.New(nobody, client.Options{
		Scheme: scheme.Scheme,
		Cache:  &client.CacheOptions{Reader: k8sClient},
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// at returns a time of the tests' day, zero for the empty string.
func at(t *testing.T, clock string) time.Time {
	t.Helper()
	if clock == "" {
		return time.Time{}
	}
	parsed, err := time.Parse(time.TimeOnly, clock)
	if err != nil {
		t.Fatal(err)
	}
	return epoch.Add(parsed.Sub(parsed.Truncate(24 * time.Hour)))
}
