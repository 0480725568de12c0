// Copyright 2026 The mycronjob authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	kbatch "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1 "wzj.kubebuilder.io/project/api/v1"
)

// A MyCronJob's life: one Job for each slot in which a pass comes, a short history, and an end that leaves nothing.
func TestLife(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	o := f.start()
	myCronJob := f.myCronJob("main")
	f.create(myCronJob)
	f.waitFor(myCronJob, batchv1.ReasonOnTime)
	f.waitForJobs(myCronJob, 0)
	f.wantFromTemplate(myCronJob)
	f.account.AtRest(t, o.pass(myCronJob))

	f.clock.SetTime(at(4)) // still the same slot
	f.account.AtRest(t, o.pass(myCronJob))
	f.runAt(o, myCronJob, 5)
	f.runAt(o, myCronJob, 11)
	f.waitForJobs(myCronJob, 0, 5, 10)
	f.runAt(o, myCronJob, 60) // nothing is made up for
	f.waitForJobs(myCronJob, 5, 10, 60)
	f.account.AtRest(t, o.pass(myCronJob))

	f.change(myCronJob, func(s *batchv1.MyCronJobSpec) { s.HistoryLimit = new(int32(0)) })
	f.waitForJobs(myCronJob)
	f.waitFor(myCronJob, batchv1.ReasonOnTime)
	f.account.AtRest(t, o.pass(myCronJob)) // the Job of this slot is gone, and does not start again

	f.breaks(o, myCronJob)
	f.delete(myCronJob)
	cluster.Cluster(t).WaitForEmpty(t, f.namespace)
	// Clusters that protect owners ask for the permission on finalizers; this one does not.
	f.account.LeastPermissions(t, "update mycronjobs/finalizers.batch.wzj.kubebuilder.io")
}

// wantFromTemplate checks that Jobs look as the template says, and belong to the MyCronJob.
func (f *fixture) wantFromTemplate(myCronJob *batchv1.MyCronJob) {
	f.Helper()
	jobs, err := f.jobs(myCronJob)
	if err != nil || len(jobs) == 0 {
		f.Fatalf("%d Jobs: %v", len(jobs), err)
	}
	for _, job := range jobs {
		if job.Annotations["note"] != "from the template" || job.Spec.Template.Spec.Containers[0].Image != "busybox:1.37" {
			f.Errorf("%s is not as the template says: %v", job.Name, job.Annotations)
		}
		if !metav1.IsControlledBy(&job, myCronJob) {
			f.Errorf("%s belongs to %v", job.Name, job.OwnerReferences)
		}
	}
}

// breaks gives a MyCronJob a template that the API server does not take, and waits for the report and its event.
func (f *fixture) breaks(o operator, myCronJob *batchv1.MyCronJob) {
	f.Helper()
	f.change(myCronJob, func(s *batchv1.MyCronJobSpec) { s.JobTemplate.Spec.BackoffLimit = new(int32(-1)) })
	f.waitFor(myCronJob, batchv1.ReasonOnTime)
	f.passAt(o, myCronJob, 120, batchv1.ReasonStartFailed)
	if message := myCronJob.Status.Conditions[0].Message; !strings.Contains(message, "spec.backoffLimit") {
		f.Errorf("the condition has not the API server's answer: %s", message)
	}
	f.wantEvent(myCronJob, batchv1.ReasonStartFailed)
}

// wantEvent waits for an event about a MyCronJob.
func (f *fixture) wantEvent(myCronJob *batchv1.MyCronJob, reason string) {
	f.Helper()
	f.eventually("an event", func() (bool, error) {
		var list corev1.EventList
		err := f.user.List(f.Context(), &list, client.InNamespace(f.namespace))
		return slices.ContainsFunc(list.Items, func(e corev1.Event) bool {
			return e.Reason == reason && e.InvolvedObject.UID == myCronJob.UID
		}), err
	})
}

// The API server quotes what is wrong, however long it is. What is reported of that is short enough to be taken.
func TestLongAnswer(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.start()
	myCronJob := f.myCronJob("long")
	myCronJob.Spec.JobTemplate.Metadata.Labels["of"] = strings.Repeat("é", 40_000)
	f.create(myCronJob)
	f.waitFor(myCronJob, batchv1.ReasonStartFailed)
	if message := myCronJob.Status.Conditions[0].Message; !strings.HasSuffix(message, "é…") || len(message) > maxMessage+len("…") {
		t.Errorf("%d bytes: %s", len(message), message)
	}
	f.wantEvent(myCronJob, batchv1.ReasonStartFailed)
}

// A pass says when the next one is due.
func TestWakesUp(t *testing.T) {
	for _, test := range []struct{ now, want time.Duration }{
		{0, 5 * time.Second}, {time.Second, 4 * time.Second}, {4999 * time.Millisecond, time.Millisecond},
	} {
		if got := untilNext(epoch.Add(test.now)); got != test.want {
			t.Errorf("%s after the slot: the next pass is in %s, want %s", test.now, got, test.want)
		}
	}
}

// What is due depends on the last Job and the clock alone.
func TestDue(t *testing.T) {
	now := at(7)
	for _, test := range []struct {
		last int
		want bool
	}{{0, true}, {5, false}, {10, false}, {60, false}, {3600, true}} { // in an hour: the clock was wrong then
		if got := due(&batchv1.MyCronJobStatus{LastRunTime: new(metav1.NewTime(at(test.last)))}, now); got != test.want {
			t.Errorf("the last Job was at %ds: due is %v", test.last, got)
		}
	}
	if !due(&batchv1.MyCronJobStatus{}, now) {
		t.Error("the first Job is not due")
	}
}

// A Job that something else made is left alone, and its slot passes.
func TestNameTaken(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	o := f.start()
	myCronJob := f.myCronJob("taken")
	f.create(newJob(myCronJob, at(0)), myCronJob)
	f.waitFor(myCronJob, batchv1.ReasonNameTaken)
	f.runAt(o, myCronJob, 5)
	f.waitFor(myCronJob, batchv1.ReasonOnTime)
	f.waitForJobs(myCronJob, 0, 5)
}

// Jobs that do not end are not joined by more and more; the history holds those that end.
func TestTooManyUnfinished(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	o := f.start()
	myCronJob := f.myCronJob("stuck")
	myCronJob.Spec.JobTemplate.Spec.Suspend = new(true)
	f.create(myCronJob)
	for i := range maxUnfinished {
		f.runAt(o, myCronJob, 5*i)
	}
	f.passAt(o, myCronJob, 100, batchv1.ReasonTooManyUnfinished)
	f.account.AtRest(t, o.pass(myCronJob))

	jobs, err := f.jobs(myCronJob)
	if err != nil || len(jobs) != maxUnfinished {
		t.Fatalf("%d Jobs, want %d: %v", len(jobs), maxUnfinished, err)
	}
	f.delete(&jobs[0]) // a pass comes because of that
	f.waitFor(myCronJob, batchv1.ReasonOnTime)
}

// byTest keeps the Job controller from a Job: the test does its part.
const byTest = "wzj.kubebuilder.io/test"

// Each write fails once, lost or unanswered, and there is one Job for each slot all the same.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	o := f.start()
	n := 0
	f.account.Interrupt(t, func(t *testing.T) {
		n++
		f.clock.SetTime(at(0))
		myCronJob := f.myCronJob(fmt.Sprintf("interrupted-%d", n))
		myCronJob.Spec.HistoryLimit = new(int32(0))
		myCronJob.Spec.JobTemplate.Spec.ManagedBy = new(byTest)
		f.create(myCronJob)
		for _, seconds := range []int{0, 5} {
			f.runAt(o, myCronJob, seconds)
			f.finish(myCronJob, seconds)
			f.waitForJobs(myCronJob)
		}
	})
}

// finish does what the Job controller does when the Job of a slot has completed.
func (f *fixture) finish(myCronJob *batchv1.MyCronJob, seconds int) {
	f.Helper()
	job := &kbatch.Job{}
	if err := f.user.Get(f.Context(), client.ObjectKeyFromObject(newJob(myCronJob, at(seconds))), job); err != nil {
		f.Fatal(err)
	}
	now := metav1.Now()
	job.Status.StartTime, job.Status.CompletionTime = &now, &now
	for _, kind := range []kbatch.JobConditionType{kbatch.JobSuccessCriteriaMet, kbatch.JobComplete} {
		job.Status.Conditions = append(job.Status.Conditions, kbatch.JobCondition{Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: now})
	}
	if err := f.user.Status().Update(f.Context(), job); err != nil {
		f.Fatal(err)
	}
}

// By the machine's clock a Job starts every five seconds.
func TestEveryFiveSeconds(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long-examples")
	}
	t.Parallel()
	f := newFixture(t)
	f.startBy(clock.RealClock{})
	myCronJob := f.myCronJob("real")
	f.create(myCronJob)
	var jobs []kbatch.Job
	f.eventually("there are three Jobs", func() (found bool, err error) {
		jobs, err = f.jobs(myCronJob)
		return len(jobs) == 3, err
	})
	first := slot(jobs[0].CreationTimestamp.Time)
	for i, job := range jobs {
		if want := newJob(myCronJob, first.Add(time.Duration(i)*interval)).Name; job.Name != want {
			t.Errorf("Job %d is %s, want %s", i, job.Name, want)
		}
	}
}

// many is how many objects come at once, and attempts how many writes each may cost: the Job, the status, and one to
// spare.
const (
	many     = 200
	attempts = 3
)

// Many MyCronJobs at once come to rest, and a new operator leaves all of them alone.
func TestMany(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long-examples")
	}
	f := newFixture(t)
	o := f.start()
	myCronJobs := make([]*batchv1.MyCronJob, many)
	keys := make([]client.ObjectKey, many)
	for i := range myCronJobs {
		myCronJobs[i] = f.myCronJob(fmt.Sprintf("many-%d", i))
		myCronJobs[i].Spec.JobTemplate.Spec.ManagedBy = new(byTest) // no pods are needed
		keys[i] = client.ObjectKeyFromObject(myCronJobs[i])
		f.create(myCronJobs[i])
	}
	for _, myCronJob := range myCronJobs {
		f.waitFor(myCronJob, batchv1.ReasonOnTime)
	}
	f.account.FewWrites(t, many, attempts)
	o.stop()

	f.account.Restarted(t, func() {
		next := f.start()
		next.seen.WaitFor(t, keys...)
		next.stop()
	})
}

// What users of kubectl see, and what is refused.
func TestKubectl(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.clock.SetTime(time.Now()) // an age is not shown for a time to come
	f.start()
	myCronJob := f.myCronJob("seen")
	f.create(myCronJob)
	f.waitFor(myCronJob, batchv1.ReasonOnTime)
	c := cluster.Cluster(t)
	out, err := c.Kubectl(t, "get", "mycronjobs", "--namespace", f.namespace, "--output", "wide")
	heads := []string{"NAME", "LAST", "RUN", "STARTING", "REASON", "AGE", "seen"}
	if words := strings.Fields(out); err != nil || len(words) != 11 || !slices.Equal(words[:7], heads) || !slices.Equal(words[8:10], []string{"True", "OnTime"}) {
		t.Errorf("get prints %q, %v", out, err)
	}
	if out, err := c.Kubectl(t, "explain", "mycronjob.spec.jobTemplate"); err != nil || !strings.Contains(out, "every 5 seconds") {
		t.Errorf("explain prints %q, %v", out, err)
	}
	for _, test := range []struct{ patch, want string }{
		{`{"spec":{"historyLimit":-1}}`, "spec.historyLimit in body should be greater than or equal to 0"},
		{`{"spec":{"historyLimit":101}}`, "spec.historyLimit in body should be less than or equal to 100"},
		{`{"spec":{"jobTemplate":null}}`, "spec.jobTemplate: Required value"},
		{`{"spec":{"jobTemplate":{"spec":{"template":{"spec":{"restartPolicy":"Always"}}}}}}`, "must be Never or OnFailure: the pods of a Job end"},
		{`{"spec":{"jobTemplate":{"spec":{"template":{"spec":{"restartPolicy":null}}}}}}`, "must be Never or OnFailure: the pods of a Job end"},
		{`{"spec":{"jobTemplate":{"spec":{"template":{"spec":{"containers":null}}}}}}`, "containers: Required value"},
	} {
		if _, err := c.Kubectl(t, "patch", "mycronjob", "seen", "--namespace", f.namespace, "--type=merge", "--patch", test.patch); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.patch, err, test.want)
		}
	}
}

// A name from which no name of a Job can be made is refused.
func TestNameLength(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.start()
	longest, longer := f.myCronJob(strings.Repeat("a", 52)), f.myCronJob(strings.Repeat("a", 53))
	c := cluster.Cluster(t)
	if _, err := c.Kubectl(t, "create", "--filename", c.Manifest(t, longer)); err == nil || !strings.Contains(err.Error(), "no more than 52 characters") {
		t.Errorf("a name of 53 characters: %v", err)
	}
	f.create(longest)
	f.waitFor(longest, batchv1.ReasonOnTime)
	f.waitForJobs(longest, 0)
}

// A pass over what does not exist does nothing.
func TestAbsent(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	o := f.start()
	f.eventually("the cache is filled", func() (bool, error) {
		result, err := o.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Namespace: f.namespace, Name: "absent"}})
		return err == nil && result.IsZero(), nil
	})
}
